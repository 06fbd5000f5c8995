-- Gives up one hold of an owner that is used once, as unlock_once.lua does, with
-- the lock as the only key. A cluster runs it while it moves the slot: on the
-- server that has the lock. With the channel among its keys it would wait for
-- both in one place, and a channel is never a key.
--
-- KEYS[1]  the lock
-- ARGV[1]  the message to announce
-- ARGV[2]  the lease of the holds that are left, in ms
-- ARGV[3]  the owner
-- ARGV[4]  the channel for the announcement
-- ARGV[5…] the commands that announce
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
for i = 5, #ARGV do
  announce(ARGV[i], ARGV[4], ARGV[1])
end
return told(1)
