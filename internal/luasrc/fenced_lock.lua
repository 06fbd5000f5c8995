-- Acquires the lock for an owner that may have it, as lock.lua does, and counts the
-- grants, re-entries too: each has a higher number than all before it.
--
-- KEYS[1]  the lock
-- KEYS[2]  the number of the last grant, which never expires
-- ARGV[1]  the lease, in ms
-- ARGV[2]  the owner
--
-- Reply: an array with the number, one hold more; PTTL of the lock, another's.

local call, lock, owner = redis.call, KEYS[1], ARGV[2]

if call('exists', lock) == 1 and call('hexists', lock, owner) == 0 then
  return call('pttl', lock)
end
local token = call('incr', KEYS[2])
call('hincrby', lock, owner, 1)
call('pexpire', lock, ARGV[1])
return {token}
