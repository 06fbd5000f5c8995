-- Changes how many permits of a semaphore are free. The receipt keeps the result for a
-- while: the same call sent again, because its reply was lost, counts once.
--
-- KEYS[3]      says for a while that the semaphore was set, see semaphore_undo.lua
-- ARGV[from]   how long the receipt is kept, in ms
-- ARGV[from+1] how: release, so many come back; existing, the same if the key is there;
--              first, so many are the first, if no key is there; more, so many or
--              fewer, and the key loses its end; drain, none is left, the same;
--              delete, with the key
-- ARGV[from+2] how many
-- ARGV[from+3] of first, for how long, in ms; 0: without an end
-- ARGV[from+4] of first, how long an acquire's receipt is kept, in ms
--
-- Reply: of drain how many were free; else 1, done; 0, it was not to be.

local earlier = call('get', receipt)
if earlier then
  return tonumber(earlier) or earlier
end

local how, n, result = ARGV[from + 1], ARGV[from + 2], 1
if how == 'release' or how == 'existing' and call('exists', number) == 1 then
  tell(call('incrby', number, n))
elseif how == 'first' and not call('get', number) then
  call('set', number, n)
  if tonumber(ARGV[from + 3]) > 0 then
    call('pexpire', number, ARGV[from + 3])
  end
  call('set', KEYS[3], 1, 'px', ARGV[from + 4])
  tell(n)
elseif how == 'more' then
  local free = call('incrby', number, n)
  call('persist', number)
  tell(free)
elseif how == 'drain' then
  local was = call('get', number)
  if was then
    call('decrby', number, was)
    call('persist', number)
  end
  result = tonumber(was or 0)
elseif how == 'delete' then
  call('get', number) -- fails for a key of another type
  result = call('del', number)
else
  result = 0
end
call('set', receipt, result, 'px', ARGV[from])
return told(result)
