-- Gives up one write hold of an owner, or as many as its client does not need. After
-- the last one the owner's read holds, if there are any, make it a read lock, else it
-- is deleted; either is announced, since all who wait to read may come in. If they need
-- no lease, it lives as long as they do, and is deleted if all have ended. The latch, if
-- there is one, keeps the result, as that of unlock.lua does.
--
-- ARGV[more+1]  the lease of what the owner still holds, in ms; 0, it needs none
-- ARGV[more+2]  the owner
-- ARGV[more+3]  how long the latch is kept, in ms
-- ARGV[more+4]  how many write holds are left at least
-- ARGV[more+5]  1, if exactly so many are to be left
-- ARGV[more+6…] the commands that announce
--
-- Reply: nil, the owner does not write; 0, it has holds left, of either sort; 1, it has
-- none.

local earlier = latch and call('get', latch)
if earlier then
  -- A latch that holds no number is nobody's result: show it as it is.
  return tonumber(earlier) or earlier
end

local function tell()
  for i = more + 6, #ARGV do
    announce(ARGV[i], channel, '1')
  end
end

local mode = call('hget', lock, 'mode')
if not mode then
  tell()
  return nil
end
local writer = owner .. ':write'
local n = mode == 'write' and held(lock, writer)
if not n then
  return nil
end

local k, result = leaves(n, ARGV[more + 4], ARGV[more + 5]), 0
if k > 0 then
  if lease > 0 then
    call('pexpire', lock, lease)
  end
  call('hincrby', lock, writer, k - n)
else
  call('hdel', lock, writer)
  local fields, reads = call('hlen', lock), tonumber(call('hget', lock, owner) or 0) or 0
  local longest = 0
  for i = 1, reads do
    local ttl = lives(owner, i)
    if ttl and math.max(ttl, 0) < lease then
      call('set', hold(owner, i), 1, 'px', lease)
    end
    longest = math.max(longest, ttl or lasts(lock), lease)
  end
  -- The mode is a field, and the owner's reads are one.
  local alone = fields == 1 or fields == 2 and reads > 0
  if alone and longest == 0 then
    call('del', lock)
    result = 1
  else
    call('hset', lock, 'mode', 'read')
    if reads == 0 then
      result = 1
    elseif longest > 0 and (alone and lease == 0 or call('pttl', lock) < longest) then
      call('pexpire', lock, longest)
    end
  end
  tell()
end
if latch then
  call('set', latch, result, 'px', ARGV[more + 3])
end
return told(result)
