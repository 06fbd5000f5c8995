-- What each unlock of a read-write lock begins with.
--
-- KEYS[1]  the lock
-- KEYS[2]  the channel for the announcement
-- KEYS[3]  what the keys of all read holds begin with
-- KEYS[4]  the latch of this one unlock; none where only its client acts for the owner
--
-- While a cluster moves their slot, the server that has the lock can be called with that
-- key alone, and the next two names as its first arguments, without a latch. It may lack
-- keys of holds that the other server has, and if the slot leaves it, it makes none.

local call, more = redis.call, 0
local lock, channel, holds, latch = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
if not channel then
  channel, holds, more = ARGV[1], ARGV[2], 2
end
local owner, lease = ARGV[more + 2], tonumber(ARGV[more + 1])

local function hold(of, n)
  return holds .. ':' .. of .. ':rwlock_timeout:' .. n
end

-- Only where a key may be the other server's does a command with it fail in silence.
local try = more == 0 and call or redis.pcall

-- Tells for how many ms a key lives. In its last millisecond it lives, and its TTL is 0.
local function lasts(key)
  local ttl = try('pttl', key)
  return ttl == 0 and 1 or ttl
end

-- Tells for how many ms the key of a hold lives; -2, there is none; nil, the slot's other
-- server may have it.
local function lives(of, n)
  local ttl = lasts(hold(of, n))
  if more == 0 or type(ttl) == 'number' and ttl ~= -2 then
    return ttl
  end
end

