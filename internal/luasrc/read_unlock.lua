-- Gives up one read hold of an owner, or as many as its client does not need: those with
-- the highest numbers. What else the owner holds gets the lease. If nobody holds, the lock is deleted and that announced.
-- Else the lock lives as long as the longest read hold, or up to a second longer, and
-- never shorter than before while it is written. The latch, if there is one, keeps the
-- result, as that of unlock.lua does.
--
-- KEYS[1]  the lock
-- KEYS[2]  the channel for the announcement
-- KEYS[3]  what the keys of all read holds begin with
-- KEYS[4]  the latch of this one unlock; none where only its client acts for the owner
-- ARGV[1]  the lease of what the owner still holds, in ms; 0, it needs none
-- ARGV[2]  the owner
-- ARGV[3]  how long the latch is kept, in ms
-- ARGV[4]  how many read holds are left at least
-- ARGV[5]  1, if exactly so many are to be left
-- ARGV[6…] the commands that announce
--
-- Reply: nil, the owner has no read hold; 0, it has holds left, of either sort; 1, it
-- has none.

local call = redis.call
local lock, latch, owner, lease = KEYS[1], KEYS[4], ARGV[2], tonumber(ARGV[1])

local earlier = latch and call('get', latch)
if earlier then
  -- A latch that holds no number is nobody's result: show it as it is.
  return tonumber(earlier) or earlier
end

local function tell()
  for i = 6, #ARGV do
    announce(ARGV[i], KEYS[2], '0')
  end
end

local function hold(of, n)
  return KEYS[3] .. ':' .. of .. ':rwlock_timeout:' .. n
end

local mode = call('hget', lock, 'mode')
if not mode then
  tell()
  return nil
end
local had = held(lock, owner)
if not had then
  return nil
end

-- The keys are deleted first: a full server accepts hincrby only behind another write.
local n, ttl, released = leaves(had, ARGV[4], ARGV[5]), call('pttl', lock), -2
for i = n + 1, had do
  released = math.max(released, call('pttl', hold(owner, i)))
  call('del', hold(owner, i))
end
if n <= 0 then
  call('hdel', lock, owner)
elseif n ~= had then
  call('hincrby', lock, owner, n - had)
end
for i = 1, lease > 0 and n or 0 do
  if call('pttl', hold(owner, i)) < lease then
    call('set', hold(owner, i), 1, 'px', lease)
  end
end

-- What one script sets at once may end some ms apart. And a renewal that was longer on
-- its way than the next one has made the lock live longer than its hold.
local apart, late = 2, 1000

-- Finds a read hold that lives for enough ms, else the one that lives the longest.
local function longest(enough)
  local found, fields = 0, call('hgetall', lock)
  for f = 1, #fields, 2 do
    -- An owner, and neither a writer nor a field of somebody else's.
    if string.find(fields[f], '^[%x-]+:%-?%d+$') then
      for i = tonumber(fields[f + 1]) or 0, 1, -1 do
        found = math.max(found, call('pttl', hold(fields[f], i)))
        if found >= enough then
          return found
        end
      end
    end
  end
  return found
end

local result, left = 1, ttl
if mode ~= 'write' then
  if call('hlen', lock) == 1 then
    left = 0
  elseif ttl < 0 then
    left = longest(math.huge)
  elseif released >= ttl - late then
    local enough = math.max(released, ttl, late + 1) - late
    local found = longest(enough)
    if found < enough or found > ttl then
      left = found
    end
  elseif released < 0 and longest(1) == 0 then
    left = 0
  end
end
if n > 0 or mode == 'write' and call('hexists', lock, owner .. ':write') == 1 then
  result = 0
  if mode ~= 'write' or ttl >= 0 then
    left = math.max(left, lease)
  end
end
if left == 0 then
  result = 1
  call('del', lock)
  tell()
elseif math.abs(left - ttl) > apart then
  call('pexpire', lock, left)
end
if latch then
  call('set', latch, result, 'px', ARGV[3])
end
return told(result)
