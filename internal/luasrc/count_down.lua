-- Sets the count of a latch, counts it down or deletes it. The receipt keeps the result
-- for a while: the same call sent again, because its reply was lost, counts once.
--
-- ARGV[from]   how long that is kept, in ms
-- ARGV[from+1] how: set, if no key is there; down, by one; delete
-- ARGV[from+2] the count
--
-- Reply: 1, done; 0, it was not to be.
--
-- The message 0 opens the gate of all who wait, so it is told where the count becomes 0
-- and nowhere else; 1 closes it.

local earlier = call('get', receipt)
if earlier then
  return tonumber(earlier) or earlier
end

local how, result, was = ARGV[from + 1], 1, call('get', number)
if how == 'down' then
  local left = call('decr', number)
  if left <= 0 then
    call('del', number)
  end
  if left == 0 then
    tell(0)
  end
elseif how == 'set' and not was then
  call('set', number, ARGV[from + 2])
  tell(1)
elseif how == 'delete' and was then
  call('del', number)
  tell(1)
else
  result = 0
end
call('set', receipt, result, 'px', ARGV[from])
return told(result)
