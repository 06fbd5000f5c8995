-- Sets how many permits there are, or adds to them. The receipt keeps the result for a
-- while: the same call sent again, because its reply was lost, counts once.
--
-- KEYS[3]      the receipt
-- ARGV[from]   how long that is kept, in ms
-- ARGV[from+1] how: first, if there are none so far; total, whatever there is; more
-- ARGV[from+2] how many
-- ARGV[from+3] of first, for how long, in ms; 0: without an end
--
-- Reply: 1, done; 0, there are some already.

local earlier = call('get', KEYS[3])
if earlier then
  return tonumber(earlier) or earlier
end

local how, n, result = ARGV[from + 1], tonumber(ARGV[from + 2]), 1
local was = number()
if how == 'more' then
  call('incrby', free, n)
  if n > 0 then
    tell(n)
  end
elseif not was then
  call('set', free, n)
  if how == 'first' and tonumber(ARGV[from + 3]) > 0 then
    call('pexpire', free, ARGV[from + 3])
  end
  tell(n)
elseif how == 'first' then
  result = 0
else
  local change = n - was - call('zcount', times, 0, '+inf')
  if change ~= 0 then
    call('incrby', free, change)
    tell(n)
  end
end
call('set', KEYS[3], result, 'px', ARGV[from])
return told(result)
