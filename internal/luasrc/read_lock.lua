-- Acquires a read lock for an owner, unless somebody else writes. A writer may read.
--
-- KEYS[1]       the lock
-- KEYS[2]       the channel, which is never a key: while a slot moves, the server that has
--               the lock is called without it, and the channel is the first argument. A
--               server that the slot leaves makes no key of a hold. So its client makes
--               the key on the slot's other server, and calls again
-- ARGV[more+1]  the lease, in ms
-- ARGV[more+2]  the owner
-- ARGV[more+3]  what the keys of all read holds begin with
-- ARGV[more+4]  the number of the hold whose key its client has made
--
-- Reply: nil, one hold more; the lock's PTTL, another writes; a text, the key is no
-- read-write lock, and was left alone.

local call, lock, channel = redis.call, KEYS[1], KEYS[2]
local more = channel and 0 or 1
local lease, owner = ARGV[more + 1], ARGV[more + 2]

local function hold(n)
  return ARGV[more + 3] .. ':' .. owner .. ':rwlock_timeout:' .. n
end

-- Makes the key of the hold ahead of the rest, where that may fail.
local function reserved()
  local n = more > 0 and (call('hget', lock, owner) or 0) + 1
  local made = n and tostring(n) ~= ARGV[more + 4] and redis.pcall('set', hold(n), 1, 'px', lease)
  return made and made.err and redis.error_reply('TRYAGAIN This server makes no key of a slot that is on its way: ' .. n)
end

local mode = call('hget', lock, 'mode')
if not mode and call('exists', lock) == 1 then
  return 'a hash without mode'
elseif mode and mode ~= 'read' and not (mode == 'write' and call('hexists', lock, owner .. ':write') == 1) then
  return call('pttl', lock)
end
local elsewhere = reserved()
if elsewhere then
  return elsewhere
end
local ttl, n = call('pttl', lock), 1
if mode then
  n = call('hincrby', lock, owner, 1)
else
  call('hset', lock, 'mode', 'read', owner, 1) -- at once: a mode without an owner would stay
end
if more == 0 then
  call('set', hold(n), 1, 'px', lease)
end
if ttl < tonumber(lease) then
  call('pexpire', lock, lease)
end
return nil
