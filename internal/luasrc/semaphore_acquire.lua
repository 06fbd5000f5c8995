-- Takes permits, if so many are free. Nobody owns them: the receipt says for a while
-- that they were taken, so that they can be given back if the reply is lost.
--
-- KEYS[1] the number of permits that are free: no key is none, and it may be below 0
-- KEYS[2] the receipt
-- ARGV[1] how many
-- ARGV[2] how long the receipt is kept, in ms
--
-- Reply: 1, they are taken; 0, too few are free; -3, nobody has set permits.

local call = redis.call
local there = call('get', KEYS[1])
local free = tonumber(there or 0)

if not there then
  return -3
end
if free and free < tonumber(ARGV[1]) then
  return 0
end
call('decrby', KEYS[1], ARGV[1]) -- fails if it is no number
call('set', KEYS[2], ARGV[1], 'px', ARGV[2])
return 1
