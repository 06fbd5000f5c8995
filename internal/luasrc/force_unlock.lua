-- Frees the lock whoever holds it, and announces that.
--
-- KEYS[1]  the lock
-- KEYS[2]  the channel for the announcement
-- ARGV[1]  the message to announce
-- ARGV[2…] the commands that announce
--
-- Reply: 1, there was a lock; 0, there was none, and nothing is announced; 2, it is the multi-lock of
-- a group, and was left alone. Or {1, why it was not asked whether it is one}.

if grouped() then
  return 2
end
if redis.call('del', KEYS[1]) == 0 then
  return 0
end
for i = 2, #ARGV do
  announce(ARGV[i], KEYS[2], ARGV[1])
end
return forced(told(1))
