-- Acquires the lock for an owner if nobody has it. Its own owner is refused too.
--
-- KEYS[1]  the lock
-- ARGV[1]  the lease, in ms
-- ARGV[2]  the owner
-- ARGV[3]  what the lock's own owner is told
--
-- Reply: nil, acquired; ARGV[3], the owner's already; PTTL of the lock, another's.

local call, lock, owner = redis.call, KEYS[1], ARGV[2]

if call('exists', lock) == 0 then
  call('hincrby', lock, owner, 1)
  call('pexpire', lock, ARGV[1])
  return nil
end
if call('hexists', lock, owner) == 1 then
  return redis.status_reply(ARGV[3])
end
return call('pttl', lock)
