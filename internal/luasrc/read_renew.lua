-- Gives the read holds of each owner a new lease, and their locks as much at least:
-- another's hold may need more.
--
-- KEYS[2i-1]  a lock
-- KEYS[2i]    what the keys of all its read holds begin with
-- ARGV[1]     the lease, in ms, the same for all; 0: only looks
-- ARGV[i+1]   the owner
--
-- Reply: for each lock 1, renewed, or 0, not held by that owner.

local call, lease = redis.call, tonumber(ARGV[1])
local renewed = {}
for i = 1, #ARGV - 1 do
  local lock, owner = KEYS[2 * i - 1], ARGV[i + 1]
  local n = tonumber(call('hget', lock, owner) or 0)
  for k = lease > 0 and n or 0, 1, -1 do
    local hold = KEYS[2 * i] .. ':' .. owner .. ':rwlock_timeout:' .. k
    if call('pexpire', hold, lease) == 0 then
      call('set', hold, 1, 'px', lease)
    end
  end
  if n > 0 and lease > 0 and call('pttl', lock) < lease then
    call('pexpire', lock, lease)
    call('hget', lock, owner) -- for who tracks what it reads
  end
  renewed[i] = n > 0 and 1 or 0
end
return renewed
