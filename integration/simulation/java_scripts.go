package simulation

// These scripts do what docs/dev/wire.md says that Redisson's do: the same keys, arguments,
// changes and replies, in words of our own.
const (
	javaLock = `
if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
return redis.call('pttl', KEYS[1])`

	javaFencedLock = `
if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('incr', KEYS[2])
  redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
return redis.call('pttl', KEYS[1])`

	// KEYS key, channel, latch; ARGV message, lease, owner, latch's life
	javaUnlock = `
local was = redis.call('get', KEYS[3])
if was then return tonumber(was) end
if redis.call('hexists', KEYS[1], ARGV[3]) == 0 then return nil end
if redis.call('hincrby', KEYS[1], ARGV[3], -1) > 0 then
  redis.call('pexpire', KEYS[1], ARGV[2])
  redis.call('set', KEYS[3], 0, 'px', ARGV[4])
  return 0
end
redis.call('del', KEYS[1])
redis.call('publish', KEYS[2], ARGV[1])
redis.call('set', KEYS[3], 1, 'px', ARGV[4])
return 1`

	javaRenew = `
if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('pexpire', KEYS[1], ARGV[1])
  return 1
end
return 0`

	javaFairClean = `
while true do
  local head = redis.call('lindex', KEYS[2], 0)
  if not head then break end
  local score = redis.call('zscore', KEYS[3], head)
  if not score or tonumber(score) > tonumber(ARGV[4]) then break end
  redis.call('zrem', KEYS[3], head)
  redis.call('lpop', KEYS[2])
end
`

	// KEYS key, queue, places; ARGV lease, owner, wait, now
	javaFairLock = javaFairClean + `
if redis.call('exists', KEYS[1]) == 0 and (redis.call('exists', KEYS[2]) == 0 or redis.call('lindex', KEYS[2], 0) == ARGV[2]) then
  redis.call('lpop', KEYS[2])
  redis.call('zrem', KEYS[3], ARGV[2])
  for _, m in ipairs(redis.call('zrange', KEYS[3], 0, -1)) do
    redis.call('zincrby', KEYS[3], -tonumber(ARGV[3]), m)
  end
  redis.call('hset', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
if redis.call('zscore', KEYS[3], ARGV[2]) then
  return math.max(0, redis.call('pttl', KEYS[1]))
end
local last, base = redis.call('lindex', KEYS[2], -1), nil
local score = last and redis.call('zscore', KEYS[3], last)
if score then base = tonumber(score) - tonumber(ARGV[4]) else base = redis.call('pttl', KEYS[1]) end
if redis.call('zadd', KEYS[3], tonumber(ARGV[4]) + base + tonumber(ARGV[3]), ARGV[2]) == 1 then
  redis.call('rpush', KEYS[2], ARGV[2])
end
return base`

	// KEYS queue, places; ARGV owner, wait
	javaFairLeave = `
local behind = false
for _, m in ipairs(redis.call('lrange', KEYS[1], 0, -1)) do
  if behind then redis.call('zincrby', KEYS[2], -tonumber(ARGV[2]), m) end
  if m == ARGV[1] then behind = true end
end
redis.call('zrem', KEYS[2], ARGV[1])
redis.call('lrem', KEYS[1], 0, ARGV[1])
return nil`

	// KEYS key, queue, places, channel, latch; ARGV message, lease, owner, now, latch's life
	javaFairUnlock = javaFairClean + `
local was = redis.call('get', KEYS[5])
if was then return tonumber(was) end
local function tell()
  local head = redis.call('lindex', KEYS[2], 0)
  if head then redis.call('publish', KEYS[4] .. ':' .. head, ARGV[1]) end
  redis.call('set', KEYS[5], 1, 'px', ARGV[5])
  return 1
end
if redis.call('exists', KEYS[1]) == 0 then return tell() end
if redis.call('hexists', KEYS[1], ARGV[3]) == 0 then return nil end
if redis.call('hincrby', KEYS[1], ARGV[3], -1) > 0 then
  redis.call('pexpire', KEYS[1], ARGV[2])
  redis.call('set', KEYS[5], 0, 'px', ARGV[5])
  return 0
end
redis.call('del', KEYS[1])
return tell()`

	// KEYS key, the hold's; ARGV lease, owner, writer
	javaReadLock = `
local mode = redis.call('hget', KEYS[1], 'mode')
if not mode then
  redis.call('hset', KEYS[1], 'mode', 'read', ARGV[2], 1)
  redis.call('set', KEYS[2] .. ':1', 1, 'px', ARGV[1])
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
if mode == 'read' or redis.call('hexists', KEYS[1], ARGV[3]) == 1 then
  local n = redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('set', KEYS[2] .. ':' .. n, 1, 'px', ARGV[1])
  redis.call('pexpire', KEYS[1], math.max(redis.call('pttl', KEYS[1]), ARGV[1]))
  return nil
end
return redis.call('pttl', KEYS[1])`

	// KEYS key, channel, the hold's, prefix, latch; ARGV message, owner, latch's life
	javaReadUnlock = `
local was = redis.call('get', KEYS[5])
if was then return tonumber(was) end
local mode = redis.call('hget', KEYS[1], 'mode')
if not mode then
  redis.call('publish', KEYS[2], ARGV[1])
  redis.call('set', KEYS[5], 1, 'px', ARGV[3])
  return nil
end
if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end
local n = redis.call('hincrby', KEYS[1], ARGV[2], -1)
if n == 0 then redis.call('hdel', KEYS[1], ARGV[2]) end
redis.call('del', KEYS[3] .. ':' .. (n + 1))
if redis.call('hlen', KEYS[1]) > 1 then
  local longest = -3
  for _, owner in ipairs(redis.call('hkeys', KEYS[1])) do
    local count = tonumber(redis.call('hget', KEYS[1], owner))
    if count then
      for i = count, 1, -1 do
        longest = math.max(longest, redis.call('pttl', KEYS[4] .. ':' .. owner .. ':rwlock_timeout:' .. i))
      end
    end
  end
  if longest > 0 then
    redis.call('pexpire', KEYS[1], longest)
    redis.call('set', KEYS[5], 0, 'px', ARGV[3])
    return 0
  end
  if mode == 'write' then
    redis.call('set', KEYS[5], 0, 'px', ARGV[3])
    return 0
  end
end
redis.call('del', KEYS[1])
redis.call('publish', KEYS[2], ARGV[1])
redis.call('set', KEYS[5], 1, 'px', ARGV[3])
return 1`

	// KEYS key, prefix; ARGV lease, owner
	javaReadRenew = `
local count = tonumber(redis.call('hget', KEYS[1], ARGV[2]))
if not count then return 0 end
for i = count, 1, -1 do
  redis.call('pexpire', KEYS[2] .. ':' .. ARGV[2] .. ':rwlock_timeout:' .. i, ARGV[1])
end
redis.call('pexpire', KEYS[1], ARGV[1])
return 1`

	// KEYS key; ARGV lease, writer
	javaWriteLock = `
local mode = redis.call('hget', KEYS[1], 'mode')
if not mode then
  redis.call('hset', KEYS[1], 'mode', 'write', ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
if mode == 'write' and redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], redis.call('pttl', KEYS[1]) + ARGV[1])
  return nil
end
return redis.call('pttl', KEYS[1])`

	// KEYS key, channel, latch; ARGV message, lease, writer, latch's life
	javaWriteUnlock = `
local was = redis.call('get', KEYS[3])
if was then return tonumber(was) end
local mode = redis.call('hget', KEYS[1], 'mode')
if not mode then
  redis.call('publish', KEYS[2], ARGV[1])
  redis.call('set', KEYS[3], 1, 'px', ARGV[4])
  return nil
end
if mode == 'read' or redis.call('hexists', KEYS[1], ARGV[3]) == 0 then return nil end
if redis.call('hincrby', KEYS[1], ARGV[3], -1) > 0 then
  redis.call('pexpire', KEYS[1], ARGV[2])
  redis.call('set', KEYS[3], 0, 'px', ARGV[4])
  return 0
end
redis.call('hdel', KEYS[1], ARGV[3])
if redis.call('hlen', KEYS[1]) == 1 then
  redis.call('del', KEYS[1])
  redis.call('publish', KEYS[2], ARGV[1])
else
  redis.call('hset', KEYS[1], 'mode', 'read')
end
redis.call('set', KEYS[3], 1, 'px', ARGV[4])
return 1`

	// KEYS semaphore; ARGV n
	javaSemaphoreAcquire = `
local free = redis.call('get', KEYS[1])
if free and tonumber(free) >= tonumber(ARGV[1]) then
  redis.call('decrby', KEYS[1], ARGV[1])
  return 1
end
return 0`

	// KEYS semaphore, channel; ARGV n
	javaSemaphoreRelease = `
redis.call('publish', KEYS[2], redis.call('incrby', KEYS[1], ARGV[1]))
return nil`

	// KEYS semaphore, times, channel; ARGV n, expiry, now, id ...
	javaPermitsAcquire = `
local over = redis.call('zrangebyscore', KEYS[2], 0, ARGV[3], 'limit', 0, ARGV[1])
if #over > 0 then
  redis.call('zrem', KEYS[2], unpack(over))
  local free = redis.call('incrby', KEYS[1], #over)
  if free > 0 then redis.call('publish', KEYS[3], free) end
end
local free = redis.call('get', KEYS[1])
if free and tonumber(free) >= tonumber(ARGV[1]) then
  redis.call('decrby', KEYS[1], ARGV[1])
  for i = 4, #ARGV do redis.call('zadd', KEYS[2], ARGV[2], ARGV[i]) end
  return 'OK'
end
local next = redis.call('zrange', KEYS[2], 0, 0, 'withscores')
return next[2] and ':' .. next[2] or nil`

	// KEYS semaphore, channel, times; ARGV id, now
	javaPermitsRelease = `
local score = redis.call('zscore', KEYS[3], ARGV[1])
if redis.call('zrem', KEYS[3], ARGV[1]) == 0 then return 0 end
redis.call('publish', KEYS[2], redis.call('incrby', KEYS[1], 1))
if tonumber(score) <= tonumber(ARGV[2]) then return 0 end
return 1`

	// KEYS latch, channel
	javaCountDown = `
local left = redis.call('decr', KEYS[1])
if left <= 0 then redis.call('del', KEYS[1]) end
if left == 0 then redis.call('publish', KEYS[2], 0) end
return nil`
)
