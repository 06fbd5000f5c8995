-- What each script of a semaphore with permits begins with.
--
-- KEYS[1]  the times: a sorted set of the ids of permits that are taken, until when each
--          is, in ms
-- KEYS[2]  the number of permits that are free: no key is none, and it may be below 0
-- ARGV[1]  the channel
-- ARGV[2]  how many commands announce
-- ARGV[3…] these
--
-- While a cluster moves their slot, a call without a receipt can have the times as its only
-- key, and the number as its first argument. Then it runs where the times are or, if there
-- are none, at the slot's next server.

local call, more = redis.call, 0
local times, free = KEYS[1], KEYS[2]
if not free then
  free, more = ARGV[1], 1
end
local from = 3 + more + ARGV[2 + more]

local there = more == 1 and redis.pcall('get', free)
if more == 1 and (not there or there.err) then
  return redis.error_reply('TRYAGAIN The number is on the other server')
end

-- Reads the time in ms. The server's clock is one for all clients.
local function clock()
  local t = call('time')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- Tells when a lease is over that begins now. A part of the clock's present ms has passed.
local function ending(now, lease)
  return now + lease + 1
end

-- Reads how many are free. Fails as a change would for what is no number, before anything
-- is changed. Lua takes more for numbers than the server does.
local function number()
  local there = call('get', free)
  if there and there ~= '0' and not string.find(there, '^%-?[1-9]%d*$') then
    call('incrby', free, 0)
  end
  return there
end

-- Tells who waits how many may try.
local function tell(n)
  for i = 3 + more, from - 1 do
    announce(ARGV[i], ARGV[1 + more], n)
  end
end

-- Makes taken permits free, and returns how many are.
local function back(ids)
  call('zrem', times, '') -- changes nothing: an account that may not stops before it makes permits
  local left = call('incrby', free, #ids)
  for _, id in ipairs(ids) do
    call('zrem', times, id)
  end
  return left
end

-- Takes permits back whose time is over, at most so many; below 0: all.
local function clean(now, most)
  local gone = call('zrangebyscore', times, 0, now, 'limit', 0, most)
  if #gone == 0 then
    return
  end
  local left = back(gone)
  if left > 0 then
    tell(left)
  end
end

-- Gives permits back, of so many that were to be: as Redisson does, one is told as what
-- is free then, several as how many they are.
local function give(ids, n)
  local left = back(ids)
  tell(n > 1 and #ids or left)
end

-- Finds an id among the times, as 16 bytes or, as Redisson before 3.21 wrote it, as
-- their hex digits.
local function find(id)
  local till = call('zscore', times, id)
  if not till then
    id = id:gsub('.', function(c) return string.format('%02x', c:byte()) end)
    till = call('zscore', times, id)
  end
  return till and tonumber(till), id
end

