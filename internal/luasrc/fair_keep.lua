-- Gives up one hold of an owner and, if it was the last, leaves the lock taken for a
-- while, for an owner whom nobody acts as, and tells the owner whose turn is next,
-- which tries and learns for how long. The latch keeps the result for a while, as that
-- of fair_unlock.lua does.
--
-- KEYS[4]  the latch of this one unlock
-- ARGV[2]  the owner
-- ARGV[3]  the lease of the holds that are left, in ms
-- ARGV[4]  how long the latch is kept, in ms
-- ARGV[5]  the owner that the lock is left to
-- ARGV[6]  for how long, in ms
-- ARGV[7…] the commands that announce
--
-- Reply: nil, the owner has no hold; 0, it has holds left; 1, that was the last.

local latch, owner = KEYS[4], ARGV[2]

local earlier = call('get', latch)
if earlier then
  -- A latch that holds no number is nobody's result: show it as it is.
  return tonumber(earlier) or earlier
end
if call('hexists', lock, owner) == 0 then
  return nil
end

local result, head = nil, first(clock())
if call('hincrby', lock, owner, '-1') > 0 then
  call('pexpire', lock, ARGV[3])
  result = 0
else
  call('del', lock)
  call('hincrby', lock, ARGV[5], 1)
  call('pexpire', lock, ARGV[6])
  tell(head, 7)
  result = 1
end
call('set', latch, result, 'px', ARGV[4])
return told(result)
