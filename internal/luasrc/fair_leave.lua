-- Gives up the places of owners in the queue. Those behind one of them keep theirs for
-- as much less as it would have waited. If the head has left a lock that is free, the
-- next owner is told.
--
-- ARGV[2]   how many owners
-- ARGV[3…]  each of them, and how long it may keep a place, in ms, as it was queued with
-- behind    the commands that announce
--
-- Reply: nil.

local from = 3 + 2 * ARGV[2]
local head, owners, waits = call('lindex', queue, 0), {}, {}
for i = 3, from - 1, 2 do
  owners[#owners + 1] = ARGV[i]
  waits[ARGV[i]] = tonumber(ARGV[i + 1])
end

-- The places are read from the end of the queue, no further than is needed.
local found, places = 0, {}
repeat
  local some = call('lrange', queue, -#places - 100, -#places - 1)
  for i = #some, 1, -1 do
    places[#places + 1] = some[i]
    found = found + (waits[some[i]] and 1 or 0)
  end
until found == #owners or #some < 100

-- The first place is removed by itself: an account that may not do that has marked none. The
-- others are marked, and removed all at once. An account of before may not mark.
local less = 0
for i = #places, 1, -1 do
  local wait = waits[places[i]]
  if wait then
    if less == 0 or redis.pcall('lset', queue, -i, '').err then
      call('lrem', queue, -1, places[i])
    end
    less = less + wait
  elseif less > 0 then
    call('zincrby', times, -less, places[i])
  end
end
if found > 1 then
  call('lrem', queue, 1 - found, '')
end
call('zrem', times, unpack(owners))
if head and waits[head] and call('exists', lock) == 0 then
  tell(call('lindex', queue, 0), from)
end
return nil
