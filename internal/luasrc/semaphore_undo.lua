-- Gives back what one acquire of a semaphore has taken, if its receipt is there. It may
-- be called any number of times. A semaphore that was deleted meanwhile stays away.
--
-- ARGV[from] how many permits
--
-- Reply: 1, given back; nil, there is no receipt.

if call('exists', receipt) == 0 then
  return nil
end
local free = call('exists', number) == 1 and call('incrby', number, ARGV[from])
call('del', receipt)
if free then
  tell(free)
end
return 1
