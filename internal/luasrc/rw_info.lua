-- Reads who holds a read-write lock in one of its ways, all of it at one moment.
--
-- KEYS[1]  the lock
-- ARGV[1]  the way, read or write
--
-- Reply: of one owner that holds so, as info.lua's: PTTL, 1, the owner, how many holds it
-- has. With none: -2, 0. Of a hash that is no read-write lock: a text.

local call, lock = redis.call, KEYS[1]
if call('hexists', lock, 'mode') == 1 then
  local fields = call('hgetall', lock)
  for f = 1, #fields, 2 do
    local owner, writes = string.match(fields[f], '^([%x-]+:%-?%d+)(.*)$')
    if owner and writes == (ARGV[1] == 'write' and ':write' or '') then
      return {call('pttl', lock), 1, owner, string.sub(fields[f + 1], 1, 100)}
    end
  end
elseif call('exists', lock) == 1 then
  return 'a hash without mode'
end
return {-2, 0}
