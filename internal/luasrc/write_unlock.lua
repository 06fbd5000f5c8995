-- Gives up one write hold of an owner, or as many as its client does not need. After
-- the last one the owner's read holds, if there are any, make it a read lock, else it
-- is deleted; either is announced, since all who wait to read may come in. If they need
-- no lease, it lives as long as they do, and is deleted if all have ended. The latch, if
-- there is one, keeps the result, as that of unlock.lua does.
--
-- KEYS[1]  the lock
-- KEYS[2]  the channel for the announcement
-- KEYS[3]  what the keys of all read holds begin with
-- KEYS[4]  the latch of this one unlock; none where only its client acts for the owner
-- ARGV[1]  the lease of what the owner still holds, in ms; 0, it needs none
-- ARGV[2]  the owner
-- ARGV[3]  how long the latch is kept, in ms
-- ARGV[4]  how many write holds are left at least
-- ARGV[5]  1, if exactly so many are to be left
-- ARGV[6…] the commands that announce
--
-- Reply: nil, the owner does not write; 0, it has holds left, of either sort; 1, it has
-- none.

local call = redis.call
local lock, latch, owner, lease = KEYS[1], KEYS[4], ARGV[2], tonumber(ARGV[1])

local earlier = latch and call('get', latch)
if earlier then
  -- A latch that holds no number is nobody's result: show it as it is.
  return tonumber(earlier) or earlier
end

local function tell()
  for i = 6, #ARGV do
    announce(ARGV[i], KEYS[2], '1')
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

local k, result = leaves(n, ARGV[4], ARGV[5]), 0
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
    local hold = KEYS[3] .. ':' .. owner .. ':rwlock_timeout:' .. i
    local ttl = math.max(call('pttl', hold), 0)
    if ttl < lease then
      call('set', hold, 1, 'px', lease)
    end
    longest = math.max(longest, ttl, lease)
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
  call('set', latch, result, 'px', ARGV[3])
end
return told(result)
