-- Gives each lock that its owner still holds a new lease, and reads it after that: a
-- connection that tracks what it reads then tracks the lock.
--
-- KEYS[i]    a lock
-- ARGV[1]    the lease, in ms, the same for all; 0: only looks
-- ARGV[i+1]  the owner of KEYS[i]
--
-- Reply: for each lock 1, renewed, or 0, not held by that owner.

-- All other clients wait while this runs; locals are the cheapest words.
local call, locks, argv = redis.call, KEYS, ARGV
local lease = argv[1]
local renewed = {}
for i = 1, #locks do
  local lock = locks[i]
  local mine = call('hexists', lock, argv[i + 1])
  if mine == 1 and lease ~= '0' then
    call('pexpire', lock, lease)
    call('hexists', lock, argv[i + 1])
  end
  renewed[i] = mine
end
return renewed
