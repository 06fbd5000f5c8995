-- Gives each lock that its owner still holds a new lease.
--
-- KEYS[i]    a lock
-- ARGV[1]    the lease, in ms, the same for all
-- ARGV[i+1]  the owner of KEYS[i]
--
-- Reply: for each lock 1, renewed, or 0, not held by that owner.

local renewed = {}
for i, lock in ipairs(KEYS) do
  if redis.call('hexists', lock, ARGV[i + 1]) == 1 then
    redis.call('pexpire', lock, ARGV[1])
    renewed[i] = 1
  else
    renewed[i] = 0
  end
end
return renewed
