-- Takes permits, each with an id of its own, if so many are free. The same acquire may be
-- sent any number of times.
--
-- ARGV[from]    the lease, in ms
-- ARGV[from+1…] the ids, one for each permit
--
-- Reply: nil, they are taken; else too few are free: in how many ms the time of the
-- next one that is taken is over, -1: of none; -3: nobody has set permits.

local now = clock()

-- Counts the permits that are to be taken. The same acquire, sent again, finds its own.
local function missing()
  local n = 0
  for i = from + 1, #ARGV do
    if not call('zscore', times, ARGV[i]) then
      n = n + 1
    end
  end
  return n
end

clean(now, #ARGV - from)
local there, n = number(), missing()
if tonumber(there or 0) < n then
  clean(now, -1) -- fewer than none were free, since there are to be fewer
  there, n = call('get', free), missing()
end

if tonumber(there or 0) >= n then
  -- First: while a slot moves, times that have become empty are the other server's.
  for i = from + 1, #ARGV do
    call('zadd', times, ending(now, ARGV[from]), ARGV[i])
  end
  local took = n > 0 and redis.pcall('decrby', free, n)
  if type(took) == 'table' then -- an account that may not: what is given back later must have been taken
    call('zrem', times, unpack(ARGV, from + 1))
    return took
  end
  local left = call('pttl', free)
  if left > 0 then
    call('pexpire', times, left)
  end
  return nil
end

local next = tonumber(call('zrange', times, 0, 0, 'withscores')[2])
if next and next < 922337203685477 then
  return math.max(next - now, 0)
end
return (there or next) and -1 or -3
