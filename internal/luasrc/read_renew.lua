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
-- While a slot moves, a server is called with one lock as the only key, and the keys of its
-- holds as the first arguments. It gives the lock its lease if it has all of these, or if its
-- client says by a last argument, holds, that it has given them theirs.
--
-- Reply: for each lock 1, renewed, or 0, not held by that owner.

local call, keys = redis.call, KEYS
local ahead = ARGV[#ARGV] == 'holds' and 1 or 0
local more = #keys == 1 and #ARGV - ahead - 3 or 0
local lease = tonumber(ARGV[more + 1])
local renewed, at = {}, 1

-- Gives the key of a hold the lease. It may be of others who act as this owner, and half
-- of a moved slot may not have it.
local function extend(hold)
  return redis.pcall('pexpire', hold, lease) == 1
end

for i = more + 2, #ARGV - ahead, 2 do
  local lock, owner, known = keys[at], ARGV[i], tonumber(ARGV[i + 1])
  local n = tonumber(call('hget', lock, owner) or 0)
  if n > 0 and lease > 0 then
    for k = 1, known do
      local hold = keys[at + k] or ARGV[k]
      if not extend(hold) and more > 0 and ahead == 0 then
        return redis.error_reply('TRYAGAIN This server lacks keys of a slot that is on its way: holds')
      end
    end
    for k = known + 1, known > 0 and n or 0 do
      extend((string.gsub(keys[at + 1] or ARGV[1], '%d+$', tostring(k))))
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
