-- Changes how many permits of a semaphore are free. The receipt keeps the result for a
-- while: the same call sent again, because its reply was lost, counts once.
--
-- ARGV[from]   how long the receipt is kept, in ms
-- ARGV[from+1] how: release, so many come back; existing, the same if the key is there;
--              first, so many are the first, if no key is there; more, so many or
--              fewer, and the key loses its end; drain, none is left, the same;
--              delete, with the key
-- ARGV[from+2] how many
-- ARGV[from+3] of first, for how long, in ms; 0: without an end
-- ARGV[from+4] 1: the reply of release and existing is to say by which text this semaphore
--              is known
-- ARGV[from+5] of a call that has no answer so far: how many ms ago it was first sent; 0, now
-- ARGV[from+6] of a call that was answered and that this server may lack: that text. If it
--              is another one here, or there is no semaphore, nothing is done
--
-- Reply: of drain how many were free; else 0, it was not to be; that text or 1, done; GONE, it
-- may have run, and its semaphore is gone, or was made since.

local made = reserved(ARGV[from])
if made and made.err then
  return made
end
local earlier = not made and call('get', receipt)
if earlier then
  return tonumber(earlier) or earlier
end
local there, since, of = call('exists', number) == 1, tonumber(ARGV[from + 5] or 0), ARGV[from + 6]
if of and not (there and call('get', begun) == of) then
  return 0
end
local how, n, result = ARGV[from + 1], ARGV[from + 2], '1'
if since > 0 and not of and how ~= 'first' and (young(since) or not there and (how == 'release' or how == 'more')) then
  return redis.status_reply('GONE')
end

-- Reads the text by which the semaphore is known that was changed, if that is to be said.
local function mark()
  if not there or ARGV[from + 4] == '1' then
    local text = known(not there)
    return ARGV[from + 4] == '1' and text or '1'
  end
  return '1'
end

if how == 'release' or how == 'existing' and there then
  local free = call('incrby', number, n)
  result = mark()
  tell(free)
elseif how == 'first' and not call('get', number) then
  call('set', number, n)
  if tonumber(ARGV[from + 3]) > 0 then
    call('pexpire', number, ARGV[from + 3])
  end
  known(true)
  tell(n)
elseif how == 'more' then
  local free = call('incrby', number, n)
  call('persist', number)
  mark()
  tell(free)
elseif how == 'drain' then
  local was = call('get', number)
  if was then
    call('decrby', number, was)
    call('persist', number)
    mark()
  end
  result = was or '0'
elseif how == 'delete' then
  call('get', number) -- fails for a key of another type
  result = tostring(call('del', number))
  unmark()
else
  result = '0'
end
call('set', receipt, result, 'px', ARGV[from])
return answer(result)
