-- Gives up one hold of an owner and, if it was the last, frees the lock and
-- announces that. The latch keeps the result for a while: the same unlock sent
-- again, because its reply was lost, changes nothing and answers the same.
--
-- KEYS[1]  the lock
-- KEYS[2]  the channel for the announcement
-- KEYS[3]  the latch of this one unlock
-- ARGV[1]  the message to announce
-- ARGV[2]  the lease of the holds that are left, in ms
-- ARGV[3]  the owner
-- ARGV[4]  PUBLISH or SPUBLISH
-- ARGV[5]  how long the latch is kept, in ms
-- ARGV[6…] further commands that announce
--
-- Reply: nil, the owner has no hold; 0, it has holds left; 1, the lock is free.

local call = redis.call
local lock, latch, owner = KEYS[1], KEYS[3], ARGV[3]

local earlier = call('get', latch)
if earlier then
  -- A latch that holds no number is nobody's result: show it as it is.
  return tonumber(earlier) or earlier
end

if call('hexists', lock, owner) == 0 then
  return nil
end

local result
if call('hincrby', lock, owner, '-1') > 0 then
  call('pexpire', lock, ARGV[2])
  result = 0
else
  call('del', lock)
  announce(ARGV[4], KEYS[2], ARGV[1])
  for i = 6, #ARGV do
    announce(ARGV[i], KEYS[2], ARGV[1])
  end
  result = 1
end
call('set', latch, result, 'px', ARGV[5])
return told(result)
