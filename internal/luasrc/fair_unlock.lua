-- Gives up one hold of an owner and, if it was the last, frees the lock and tells
-- the owner whose turn is next. The latch, if there is one, keeps the result for a
-- while: the same unlock sent again, because its reply was lost, changes nothing and
-- answers the same. An unlock of a lock that is free tells that owner too.
--
-- KEYS[4]  the latch of this one unlock; none where only its client acts for the owner
-- ARGV[2]  the owner
-- ARGV[3]  the lease of the holds that are left, in ms
-- ARGV[4]  how long the latch is kept, in ms
-- ARGV[5]  how many holds are left at least
-- ARGV[6]  1, if exactly so many are to be left
-- ARGV[7…] the commands that announce
--
-- Reply: nil, the owner has no hold; 0, it has holds left; 1, the lock is free.

local latch, owner = KEYS[4], ARGV[2]

local earlier = latch and call('get', latch)
if earlier then
  -- A latch that holds no number is nobody's result: show it as it is.
  return tonumber(earlier) or earlier
end

local head = first(clock())
if call('exists', lock) == 0 then
  tell(head, 7)
  return nil
end
local n = held(lock, owner)
if not n then
  return nil
end

local k, result = leaves(n, ARGV[5], ARGV[6]), 0
if k > 0 then
  call('pexpire', lock, ARGV[3])
  call('hincrby', lock, owner, k - n)
else
  call('del', lock)
  tell(head, 7)
  result = 1
end
if latch then
  call('set', latch, result, 'px', ARGV[4])
end
return told(result)
