-- Acquires a write lock for an owner, if nobody holds or it writes already. Its lock
-- lives for the longer of what it had and the lease.
--
-- KEYS[1]  the lock
-- ARGV[1]  the lease, in ms
-- ARGV[2]  the owner
--
-- Reply: nil, one hold more; the lock's PTTL, another holds, or the owner reads; a text,
-- the key is no read-write lock, and was left alone.

local call, lock, lease, writer = redis.call, KEYS[1], ARGV[1], ARGV[2] .. ':write'

local mode = call('hget', lock, 'mode')
if not mode then
  if call('exists', lock) == 1 then
    return 'a hash without mode'
  end
elseif mode ~= 'write' or call('hexists', lock, writer) == 0 then
  return call('pttl', lock)
end
local ttl = call('pttl', lock)
if mode then
  call('hincrby', lock, writer, 1)
else
  call('hset', lock, 'mode', 'write', writer, 1) -- at once: a mode without an owner would stay
end
if ttl < tonumber(lease) then
  call('pexpire', lock, lease)
end
return nil
