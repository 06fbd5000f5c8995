-- Gives up one hold of an owner and, if it was the last, leaves the lock taken for a
-- while, for an owner whom nobody acts as. That is announced as if it were free: who
-- waits tries, and learns for how long. The same unlock sent again finds the latch,
-- or that owner, changes nothing and answers the same.
--
-- KEYS[1]  the lock
-- KEYS[2]  the latch of this one unlock; none where only its client acts for the owner
-- ARGV[1]  the message to announce
-- ARGV[2]  the lease of the holds that are left, in ms
-- ARGV[3]  the owner
-- ARGV[4]  the channel for the announcement
-- ARGV[5]  how long the latch is kept, in ms
-- ARGV[6]  the owner that the lock is left to
-- ARGV[7]  for how long, in ms
-- ARGV[8]  how many holds are left at least
-- ARGV[9]  1, if exactly so many are to be left
-- ARGV[10…] the commands that announce
--
-- Reply: nil, the owner has no hold; 0, it has holds left; 1, that was the last.

local call = redis.call
local lock, latch, owner = KEYS[1], KEYS[2], ARGV[3]

local earlier = latch and call('get', latch)
if earlier then
  -- A latch that holds no number is nobody's result: show it as it is.
  return tonumber(earlier) or earlier
end
if call('hexists', lock, ARGV[6]) == 1 then
  return 1
end
local n = held(lock, owner)
if not n then
  return nil
end

local k, result = leaves(n, ARGV[8], ARGV[9]), 0
local absent = k <= 0 and redis.pcall('exists', ARGV[4]) -- the channel is no key
if type(absent) == 'table' and string.find(absent.err, 'non local key') then
  return redis.error_reply('TRYAGAIN This server makes no key of a slot that leaves it')
end
if k > 0 then
  call('pexpire', lock, ARGV[2])
  call('hincrby', lock, owner, k - n)
else
  call('pexpire', lock, ARGV[7]) -- an account that may not stops before it takes the lock without an end
  call('del', lock)
  call('hincrby', lock, ARGV[6], 1)
  call('pexpire', lock, ARGV[7])
  for i = 10, #ARGV do
    announce(ARGV[i], ARGV[4], ARGV[1])
  end
  result = 1
end
if latch then
  call('set', latch, result, 'px', ARGV[5])
end
return told(result)
