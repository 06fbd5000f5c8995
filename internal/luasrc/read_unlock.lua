-- Gives up one read hold of an owner, or as many as its client does not need: those with
-- the highest numbers. What else the owner holds gets the lease. If nobody holds, the lock is deleted and that announced.
-- Else the lock lives as long as the longest read hold, or up to a second longer, and
-- never shorter than before while it is written. The latch, if there is one, keeps the
-- result, as that of unlock.lua does.
--
-- ARGV[more+1]  the lease of what the owner still holds, in ms; 0, it needs none
-- ARGV[more+2]  the owner
-- ARGV[more+3]  how long the latch is kept, in ms
-- ARGV[more+4]  how many read holds are left at least
-- ARGV[more+5]  1, if exactly so many are to be left
-- ARGV[more+6…] the commands that announce
--
-- Reply: nil, the owner has no read hold; 0, it has holds left, of either sort; 1, it
-- has none.

local earlier = latch and call('get', latch)
if earlier then
  -- A latch that holds no number is nobody's result: show it as it is.
  return tonumber(earlier) or earlier
end

local function tell()
  for i = more + 6, #ARGV do
    announce(ARGV[i], channel, '0')
  end
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
local n, ttl, released = leaves(had, ARGV[more + 4], ARGV[more + 5]), lasts(lock), -2
for i = n + 1, had do
  released = math.max(released, lives(owner, i) or ttl)
  try('del', hold(owner, i)) -- one that the other server has stays there until its time is over
end
if n <= 0 then
  call('hdel', lock, owner)
elseif n ~= had then
  call('hincrby', lock, owner, n - had)
end
for i = 1, lease > 0 and n or 0 do
  if (lives(owner, i) or lease) < lease then
    call('set', hold(owner, i), 1, 'px', lease)
  end
end

-- What one script sets at once may end some ms apart. And a renewal that was longer on
-- its way than the next one has made the lock live longer than its hold.
local apart, late = 2, 1000

-- Finds a read hold that lives for enough ms, else the one that lives the longest. Returns
-- nil if that may be one of which this server does not know.
local function longest(enough)
  local found, known, fields = 0, true, call('hgetall', lock)
  for f = 1, #fields, 2 do
    -- An owner, and neither a writer nor a field of somebody else's.
    if string.find(fields[f], '^[%x-]+:%-?%d+$') then
      for i = tonumber(fields[f + 1]) or 0, 1, -1 do
        local ttl = lives(fields[f], i)
        found, known = math.max(found, ttl or 0), known and ttl
        if found >= enough then
          return found
        end
      end
    end
  end
  return known and found
end

local result, left = 1, ttl
if mode ~= 'write' then
  if call('hlen', lock) == 1 then
    left = 0
  elseif ttl < 0 then
    left = longest(math.huge) or left
  elseif released >= ttl - late then
    local enough = math.max(released, ttl, late + 1) - late
    local found = longest(enough)
    if found and (found < enough or found > ttl) then
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
  call('set', latch, result, 'px', ARGV[more + 3])
end
return told(result)
