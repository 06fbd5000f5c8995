-- Gives the read holds of each owner a new lease, and their locks as much at least:
-- another's hold may need more. It makes no key: while a slot moves, that could be one
-- that the slot's other server has.
--
-- KEYS         for each lock the lock, and behind it the keys of the owner's holds that
--              are known, numbers 1, 2 …
-- ARGV[1]      the lease, in ms, the same for all; 0: only looks
-- ARGV[2i]     the owner
-- ARGV[2i+1]   how many keys of its holds there are; 0: only its lock gets the lease
--
-- Reply: for each lock 1, renewed, or 0, not held by that owner.

local call, lease = redis.call, tonumber(ARGV[1])
local renewed, at = {}, 1
for i = 2, #ARGV, 2 do
  local lock, owner, known = KEYS[at], ARGV[i], tonumber(ARGV[i + 1])
  local n = tonumber(call('hget', lock, owner) or 0)
  if n > 0 and lease > 0 then
    for k = 1, known do
      call('pexpire', KEYS[at + k], lease)
    end
    for k = known + 1, known > 0 and n or 0 do
      -- Of others who act as this owner. Half of a moved slot may not have it.
      redis.pcall('pexpire', string.gsub(KEYS[at + 1], '%d+$', tostring(k)), lease)
    end
    if call('pttl', lock) < lease then
      call('pexpire', lock, lease)
      call('hget', lock, owner) -- for who tracks what it reads
    end
  end
  renewed[#renewed + 1] = n > 0 and 1 or 0
  at = at + 1 + known
end
return renewed
