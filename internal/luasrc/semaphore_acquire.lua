-- Takes permits, if so many are free. Nobody owns them: the receipt says for a while
-- that they were taken, and of which semaphore, so that they can be given back if the
-- reply is lost.
--
-- The number is that of the permits that are free: no key is none, and it may be below 0.
--
-- ARGV[more+1] how many
-- ARGV[more+2] how long the receipt is kept, in ms
-- ARGV[more+3] 1: the reply is to say by which text this semaphore is known
--
-- Reply: that text or 1, they are taken; 0, too few are free; -3, nobody has set permits.

local there, n, life = call('get', number), ARGV[more + 1], ARGV[more + 2]
local free = tonumber(there or 0)

if not there then
  return -3
end
if free and free < tonumber(n) then
  return 0
end
local made = reserved(life)
if made and made.err then
  return made
end
local asked = ARGV[more + 3] == '1'
local of = not made and (asked and known() or call('get', begun) or '1')
call('decrby', number, n) -- fails if it is no number
if made then
  return 1 -- its receipt does not say of which semaphore
end
local kept = redis.pcall('set', receipt, of, 'px', life)
if kept.err then -- an account that may not: without a receipt its client would give nothing back
  call('incrby', number, n)
  return kept
end
return asked and tonumber(of) or 1
