-- Gives up one hold of an owner that is used once and, if it was the last, frees
-- the lock and announces that. No latch is needed: no other command ever makes
-- this owner's field, so the same unlock, sent again, finds it or does not.
--
-- KEYS[1]  the lock
-- KEYS[2]  the channel for the announcement
-- ARGV[1]  the message to announce
-- ARGV[2]  the lease of the holds that are left, in ms
-- ARGV[3]  the owner
-- ARGV[4…] the commands that announce, where that is not PUBLISH alone
--
-- Reply: nil, the owner has no hold; 0, it has holds left; 1, the lock is free.

local call, lock, owner = redis.call, KEYS[1], ARGV[3]

if call('hexists', lock, owner) == 0 then
  return nil
end
if call('hincrby', lock, owner, '-1') > 0 then
  call('pexpire', lock, ARGV[2])
  return 0
end
call('del', lock)
if not ARGV[4] then
  announce('publish', KEYS[2], ARGV[1])
end
for i = 4, #ARGV do
  announce(ARGV[i], KEYS[2], ARGV[1])
end
return told(1)
