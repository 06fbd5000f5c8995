-- Gives up one hold of an owner and, if it was the last, leaves the lock taken for a
-- while, for an owner whom nobody acts as, and tells the owner whose turn is next,
-- which tries and learns for how long. The latch, if there is one, keeps the result for
-- a while, as that of fair_unlock.lua does. Without one the owner that has the lock shows
-- that this unlock ran.
--
-- KEYS[4]  the latch of this one unlock; none where only its client acts for the owner
-- ARGV[2]  the owner
-- ARGV[3]  the lease of the holds that are left, in ms
-- ARGV[4]  how long the latch is kept, in ms
-- ARGV[5]  the owner that the lock is left to
-- ARGV[6]  for how long, in ms
-- ARGV[7]  how many holds are left at least
-- ARGV[8]  1, if exactly so many are to be left
-- ARGV[9…] the commands that announce
--
-- Reply: nil, the owner has no hold; 0, it has holds left; 1, that was the last.

local latch, owner = KEYS[4], ARGV[2]

local earlier = latch and call('get', latch)
if earlier then
  -- A latch that holds no number is nobody's result: show it as it is.
  return tonumber(earlier) or earlier
end
if call('hexists', lock, ARGV[5]) == 1 then
  return 1
end
local n = held(lock, owner)
if not n then
  return nil
end

local k, result, head = leaves(n, ARGV[7], ARGV[8]), 0, first(clock())
if k > 0 then
  call('pexpire', lock, ARGV[3])
  call('hincrby', lock, owner, k - n)
else
  call('pexpire', lock, ARGV[6]) -- an account that may not stops before it takes the lock without an end
  call('del', lock)
  call('hincrby', lock, ARGV[5], 1)
  call('pexpire', lock, ARGV[6])
  tell(head, 9)
  result = 1
end
if latch then
  call('set', latch, result, 'px', ARGV[4])
end
return told(result)
