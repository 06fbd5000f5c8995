-- Frees the lock whoever holds it. Nobody is told.
--
-- KEYS[1]  the lock
--
-- Reply: 1, there was a lock; 0, there was none; 2, it is the multi-lock of a group, and was left alone.
-- Or {1, why it was not asked whether it is one}.

if grouped() then
  return 2
end
return forced(redis.call('del', KEYS[1]))
