-- Takes permits, each with an id of its own, if so many are free.
--
-- ARGV[from]    the lease, in ms
-- ARGV[from+1…] the ids, one for each permit
--
-- Reply: nil, they are taken; else too few are free: in how many ms the time of the
-- next one that is taken is over, -1: of none; -3: nobody has set permits.

local now, n = clock(), #ARGV - from
clean(now, n)
local there = number()
if tonumber(there or 0) < n then
  clean(now, -1) -- fewer than none were free, since there are to be fewer
  there = call('get', free)
end

if tonumber(there or 0) >= n then
  -- First: while a slot moves, times that have become empty are the other server's.
  for i = from + 1, #ARGV do
    call('zadd', times, now + ARGV[from], ARGV[i])
  end
  call('decrby', free, n)
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
