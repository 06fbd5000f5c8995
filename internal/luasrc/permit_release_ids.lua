-- Gives up permits by their ids, whoever took them: all of them or, if one is not taken,
-- none. One that is alone and whose time is over comes back all the same.
--
-- KEYS[3]       the receipt
-- ARGV[from]    how long that is kept, in ms
-- ARGV[from+1…] the ids, all different
--
-- Reply: 1, given up; 0, one of them was not taken, or its time was over.

local earlier = call('get', KEYS[3])
if earlier then
  return tonumber(earlier) or earlier
end

local now, n, ids, live = clock(), #ARGV - from, {}, 0
for i = from + 1, #ARGV do
  local till, id = find(ARGV[i])
  if till and (till > now or n == 1) then
    ids[#ids + 1] = id
    live = live + (till > now and 1 or 0)
  end
end
if #ids == n then
  if n > 1 then
    clean(now, -1)
  end
  give(ids, n)
end
local result = live == n and 1 or 0
call('set', KEYS[3], result, 'px', ARGV[from])
return told(result)
