-- Gives the permits of several acquires a new time.
--
-- KEYS[i]   the times of the i-th
-- ARGV[1]   the lease, in ms; 0: only looks
-- ARGV[2…]  for each acquire, how many permits it took, and their ids
--
-- Reply: for each 1, all of them were still taken; 0, one was not, and none is
-- renewed.

local call = redis.call
local t = call('time')
local now, at, renewed = t[1] * 1000 + math.floor(t[2] / 1000), 2, {}

for i, times in ipairs(KEYS) do
  local last = at + ARGV[at]
  renewed[i] = 1
  for j = at + 1, last do
    local till = call('zscore', times, ARGV[j])
    if not till or tonumber(till) <= now then
      renewed[i] = 0
    end
  end
  if renewed[i] == 1 and ARGV[1] ~= '0' then
    call('zrem', times, '') -- changes nothing; a full server takes zadd only behind another write
    for j = at + 1, last do
      call('zadd', times, now + ARGV[1] + 1, ARGV[j]) -- a part of the clock's present ms has passed
    end
    call('zscore', times, ARGV[last]) -- for who tracks what it reads
  end
  at = last + 1
end
return renewed
