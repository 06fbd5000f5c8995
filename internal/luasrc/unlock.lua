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
--
-- Reply: nil, the owner has no hold; 0, it has holds left; 1, the lock is free.

local earlier = redis.call('get', KEYS[3])
if earlier then
  -- A latch that holds no number is nobody's result: show it as it is.
  return tonumber(earlier) or earlier
end

if redis.call('hexists', KEYS[1], ARGV[3]) == 0 then
  return nil
end

local result
if redis.call('hincrby', KEYS[1], ARGV[3], -1) > 0 then
  redis.call('pexpire', KEYS[1], ARGV[2])
  result = 0
else
  redis.call('del', KEYS[1])
  redis.call(ARGV[4], KEYS[2], ARGV[1])
  result = 1
end
redis.call('set', KEYS[3], result, 'px', ARGV[5])
return result
