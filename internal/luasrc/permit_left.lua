-- Tells how long a permit is taken for, and gives it that time anew if it is told to.
--
-- ARGV[from]   the id
-- ARGV[from+1] its new lease, in ms; 0: as it was
--
-- Reply: how many whole ms are left at least; -1, it never ends; nil, it is not taken.

local now = clock()
clean(now, -1)
local till, id = find(ARGV[from])
if not till then
  return nil
end
local lease = tonumber(ARGV[from + 1])
if lease > 0 then
  call('zadd', times, ending(now, lease), id)
  return lease
end
return till < 922337203685477 and till - now - 1 or -1
