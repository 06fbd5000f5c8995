-- Acquires the lock for an owner that may have it, as lock.lua does, and counts the
-- grants, re-entries too: each has a higher number than all before it.
--
-- KEYS[1]  the lock
-- KEYS[2]  the number of the last grant, which never expires
-- ARGV[1]  the lease, in ms
-- ARGV[2]  the owner
--
-- While a cluster moves their slot, the server that has the lock can be called with that
-- key alone, and the other name as its first argument. It grants nothing without the number,
-- unless its client says by a last argument, number, that there is none anywhere.
--
-- Reply: an array with the number, one hold more; PTTL of the lock, another's.

local call, lock, tokens = redis.call, KEYS[1], KEYS[2]
local alone = not tokens
if alone then
  tokens = table.remove(ARGV, 1)
end
local owner = ARGV[2]

if call('exists', lock) == 1 and call('hexists', lock, owner) == 0 then
  return call('pttl', lock)
end
local there = alone and redis.pcall('exists', tokens) or 1
if there ~= 1 and not (there == 0 and ARGV[3] == 'number') then
  return redis.error_reply('TRYAGAIN This server lacks keys of a slot that is on its way' .. (there == 0 and ': number' or ''))
end
local token = call('incr', tokens)
call('hincrby', lock, owner, 1)
call('pexpire', lock, ARGV[1])
return {token}
