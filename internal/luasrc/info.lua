-- Reads who holds the lock, all of it at one moment.
--
-- KEYS[1]  the lock
--
-- Reply: PTTL of the lock, how many fields it has, and where that is one: the
-- field, which is the owner, and the value, how many holds the owner has. Of a hash
-- that is no lock these may be long, so they are cut.

local reply = {redis.call('pttl', KEYS[1]), redis.call('hlen', KEYS[1])}
if reply[2] == 1 then
  local found = redis.call('hgetall', KEYS[1])
  reply[3], reply[4] = string.sub(found[1], 1, 100), string.sub(found[2], 1, 100)
end
return reply
