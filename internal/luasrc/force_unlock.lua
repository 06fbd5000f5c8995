-- Frees the lock whoever holds it, and announces that.
--
-- KEYS[1]  the lock
-- KEYS[2]  the channel for the announcement
-- ARGV[1]  the message to announce
-- ARGV[2]  PUBLISH or SPUBLISH
--
-- Reply: 1, there was a lock; 0, there was none, and nothing is announced.

if redis.call('del', KEYS[1]) == 0 then
  return 0
end
redis.call(ARGV[2], KEYS[2], ARGV[1])
return 1
