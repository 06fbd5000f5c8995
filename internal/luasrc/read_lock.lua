-- Acquires a read lock for an owner, unless somebody else writes. A writer may read.
--
-- KEYS[1]  the lock
-- KEYS[2]  the channel, which is never a key: while a slot moves, no server runs what
--          would make the key of a hold, which neither has
-- ARGV[1]  the lease, in ms
-- ARGV[2]  the owner
-- ARGV[3]  what the keys of all read holds begin with
--
-- Reply: nil, one hold more; the lock's PTTL, another writes; a text, the key is no
-- read-write lock, and was left alone.

local call, lock, lease, owner = redis.call, KEYS[1], ARGV[1], ARGV[2]

local mode = call('hget', lock, 'mode')
if not mode then
  if call('exists', lock) == 1 then
    return 'a hash without mode'
  end
  call('hset', lock, 'mode', 'read')
elseif mode ~= 'read' and not (mode == 'write' and call('hexists', lock, owner .. ':write') == 1) then
  return call('pttl', lock)
end
local n = call('hincrby', lock, owner, 1)
call('set', ARGV[3] .. ':' .. owner .. ':rwlock_timeout:' .. n, 1, 'px', lease)
if call('pttl', lock) < tonumber(lease) then
  call('pexpire', lock, lease)
end
return nil
