-- Gives up an owner's place in the queue. Those behind it keep theirs for as much
-- less as it would have waited. If the lock is free, the next owner is told.
--
-- ARGV[2]  the owner
-- ARGV[3]  how long the owner may keep a place, in ms, as it was queued with
-- ARGV[4…] the commands that announce
--
-- Reply: nil.

local owner, wait = ARGV[2], tonumber(ARGV[3])

local place
for i, other in ipairs(call('lrange', queue, 0, -1)) do
  if place then
    call('zincrby', times, -wait, other)
  elseif other == owner then
    place = i
  end
end
call('zrem', times, owner)
call('lrem', queue, 0, owner)
if place == 1 and call('exists', lock) == 0 then
  tell(call('lindex', queue, 0), 4)
end
return nil
