-- Takes permits, each with an id of its own, if so many are free.
--
-- ARGV[from]    the lease, in ms
-- ARGV[from+1…] the ids, one for each permit
--
-- Reply: nil, they are taken; else too few are free: in how many ms the time of the
-- next one that is taken is over, -1: of none.

local now, n = clock(), #ARGV - from
clean(now, n)

if tonumber(call('get', free) or 0) >= n then
  call('decrby', free, n)
  for i = from + 1, #ARGV do
    call('zadd', times, now + ARGV[from], ARGV[i])
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
return -1
