-- Sets the count of a latch, counts it down or deletes it. The receipt keeps the result
-- for a while: the same call sent again, because its reply was lost, counts once.
--
-- ARGV[from]   how long that is kept, in ms
-- ARGV[from+1] how: set, if no key is there; down, by one; delete
-- ARGV[from+2] the count
-- ARGV[from+3] 1: this count is to be known, and the reply of down says by which text
-- ARGV[from+4] of a call that has no answer so far: how many ms ago it was first sent; 0, now
-- ARGV[from+5] of a call that was answered and that this server may lack: that text. If it
--              is another one here, or there is no count, nothing is done
--
-- Reply: 0, it was not to be; that text or 1, done; GONE, it may have run, and its count was
-- made since.
--
-- The message 0 opens the gate of all who wait, so it is told where the count becomes 0
-- and nowhere else; 1 closes it.

local made = reserved(ARGV[from])
if made and made.err then
  return made
end
local earlier = not made and call('get', receipt)
if earlier then
  return tonumber(earlier) or earlier
end

local how, result, was, of = ARGV[from + 1], '1', call('get', number), ARGV[from + 5]
if of and not (was and call('get', begun) == of) then
  return 0
end
if not of and how ~= 'set' and young(tonumber(ARGV[from + 4] or 0)) then
  return redis.status_reply('GONE')
end
if how == 'down' then
  local left = call('decr', number)
  if left > 0 and ARGV[from + 3] == '1' then
    result = known()
  elseif was and ARGV[from + 3] == '1' then
    result = more == 0 and call('get', begun) or '1'
  end
  if left <= 0 then
    call('del', number)
    unmark()
  end
  if left == 0 then
    tell(0)
  end
elseif how == 'set' and not was then
  call('set', number, ARGV[from + 2])
  unmark()
  if ARGV[from + 3] == '1' then
    known(true)
  end
  tell(1)
elseif how == 'delete' and was then
  call('del', number)
  unmark()
  tell(1)
else
  result = '0'
end
call('set', receipt, result, 'px', ARGV[from])
return answer(result)
