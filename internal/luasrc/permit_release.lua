-- Gives up the permits of one acquire, those of them that are still taken. Who calls
-- it again finds none.
--
-- ARGV[from…] their ids
--
-- Reply: 1, all were taken and their time was not over; else nil.

local now, n, ids, live = clock(), #ARGV + 1 - from, {}, 0
if n > 1 then
  clean(now, -1)
end
for i = from, #ARGV do
  local till = call('zscore', times, ARGV[i])
  if till then
    ids[#ids + 1] = ARGV[i]
    live = live + (tonumber(till) > now and 1 or 0)
  end
end
if #ids > 0 then
  give(ids, n)
end
return told(live == n and 1 or nil)
