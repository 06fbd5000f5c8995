-- Gives each lock that its owner still holds a new lease.
--
-- KEYS[i]    a lock
-- ARGV[1]    the lease, in ms, the same for all
-- ARGV[i+1]  the owner of KEYS[i]
--
-- Reply: for each lock 1, renewed, or 0, not held by that owner.

-- All other clients wait while this runs; locals are the cheapest words.
local call, lease = redis.call, ARGV[1]
local renewed = {}
for i = 1, #KEYS do
  local lock = KEYS[i]
  local mine = call('hexists', lock, ARGV[i + 1])
  if mine == 1 then
    call('pexpire', lock, lease)
  end
  renewed[i] = mine
end
return renewed
