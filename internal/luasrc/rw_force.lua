-- Frees a read-write lock that is in a mode, whoever holds it, and announces that. The
-- keys of its read holds go with it, or they would count for what is read later.
--
-- KEYS[1]  the lock
-- KEYS[2]  the channel for the announcement
-- KEYS[3]  what the keys of all read holds begin with
-- ARGV[1]  the mode, read or write
-- ARGV[2]  the message to announce
-- ARGV[3…] the commands that announce
--
-- Reply: 1, it was in that mode; 0, it was not, and nothing was done.

local call, lock, holds = redis.call, KEYS[1], KEYS[3]

if call('hget', lock, 'mode') ~= ARGV[1] then
  return 0
end
local fields = call('hgetall', lock)
for f = 1, #fields, 2 do
  -- An owner, and neither a writer nor a field of somebody else's.
  if string.find(fields[f], '^[%x-]+:%-?%d+$') then
    for i = tonumber(fields[f + 1]) or 0, 1, -1 do
      call('del', holds .. ':' .. fields[f] .. ':rwlock_timeout:' .. i)
    end
  end
end
call('del', lock)
for i = 3, #ARGV do
  announce(ARGV[i], KEYS[2], ARGV[2])
end
return told(1)
