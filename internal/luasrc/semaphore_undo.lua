-- Gives back what one acquire of a semaphore has taken, if its receipt is there. It may
-- be called any number of times. A semaphore that was deleted meanwhile stays away, and
-- one that was set anew since is another one.
--
-- KEYS[3]    is there for a while after the semaphore was set: it lives as long as a
--            receipt of that time
-- ARGV[from] how many permits
--
-- Reply: 1, given back; nil, there is no receipt.

local lives = call('pttl', receipt)
if lives < 0 then
  return nil
end
local free = call('pttl', KEYS[3]) <= lives and call('exists', number) == 1 and call('incrby', number, ARGV[from])
call('del', receipt)
if free then
  tell(free)
end
return 1
