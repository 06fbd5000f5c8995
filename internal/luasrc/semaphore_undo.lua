-- Gives back what one acquire of a semaphore has taken, if its receipt is there. It may
-- be called any number of times. A semaphore that was deleted meanwhile stays away, and
-- one that was made anew since is another one.
--
-- ARGV[from] how many permits
--
-- Reply: 1, given back; nil, there is no receipt.

local of, now = redis.pcall('get', receipt), redis.pcall('get', begun)
if more > 0 and (not of or of.err) then
  return redis.error_reply('TRYAGAIN The receipt may be on the other server')
end
if not of or of.err then
  return of or nil
end
local same = of == '?' or not now or now.err or now == of or now % 2 == 1 -- it was there when it became known
local free = same and call('exists', number) == 1 and call('incrby', number, ARGV[from])
call('del', receipt)
if free then
  tell(free)
end
return 1
