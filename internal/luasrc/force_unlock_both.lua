-- Frees the lock whoever holds it, and announces that to both kinds of
-- subscribers of a cluster.
--
-- KEYS[1]  the lock
-- KEYS[2]  the channel for the announcement
-- ARGV[1]  the message to announce
--
-- Reply: 1, there was a lock; 0, there was none, and nothing is announced.

if redis.call('del', KEYS[1]) == 0 then
  return 0
end
redis.call('spublish', KEYS[2], ARGV[1])
redis.call('publish', KEYS[2], ARGV[1])
return 1
