-- Frees the lock whoever holds it. Nobody is told.
--
-- KEYS[1]  the lock
--
-- Reply: 1, there was a lock; 0, there was none.

return redis.call('del', KEYS[1])
