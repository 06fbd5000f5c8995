-- Gives up one hold of an owner for which only its client acts and, if none is left,
-- frees the lock and announces that. The client says how many holds it still needs,
-- so no latch is needed: the same unlock, sent again, takes none of those. The lock is
-- the only key, so that a cluster can run it while it moves the slot.
--
-- KEYS[1]  the lock
-- ARGV[1]  the message to announce
-- ARGV[2]  the lease of the holds that are left, in ms
-- ARGV[3]  the owner
-- ARGV[4]  the channel for the announcement
-- ARGV[5]  how many holds are left at least
-- ARGV[6]  1, if exactly so many are to be left
-- ARGV[7…] the commands that announce, if any
--
-- Reply: nil, the owner has no hold; 0, it has holds left; 1, the lock is free.

local call, lock, owner = redis.call, KEYS[1], ARGV[3]

local n = held(lock, owner)
if not n then
  return nil
end
local k = leaves(n, ARGV[5], ARGV[6])
if k > 0 then
  -- In this order, because a full server accepts hincrby only behind another write.
  call('pexpire', lock, ARGV[2])
  call('hincrby', lock, owner, k - n)
  return 0
end
call('del', lock)
for i = 7, #ARGV do
  announce(ARGV[i], ARGV[4], ARGV[1])
end
return told(1)
