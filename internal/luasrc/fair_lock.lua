-- Acquires the lock for an owner that holds it, or whose turn is next. Another one
-- gets a place at the end of the queue, if it has none.
--
-- ARGV[2]  the owner
-- ARGV[3]  the lease, in ms
-- ARGV[4]  how long the owner may keep a place, in ms: the same in each of its calls
-- ARGV[5]  1: it makes one attempt, and gets no place; else 0
-- ARGV[6…] the commands that announce
--
-- behind   places: its client knows that the queue and the times are nowhere
--
-- Reply: nil, the owner has one hold more; PTTL of the lock, the owner's turn is
-- next; else others are before it: in how many ms the first of them, who may be dead,
-- loses its place; -1, that is no matter for one so far behind, or without a place.

local owner, lease, wait = ARGV[2], ARGV[3], tonumber(ARGV[4])
local nowhere = alone and ARGV[#ARGV] == 'places' and table.remove(ARGV)
if alone then
  local queued, timed = redis.pcall('exists', queue), redis.pcall('exists', times)
  local none = queued == 0 and timed == 0
  alone = not (queued == 1 and timed == 1 or none and nowhere)
  if alone and call('hexists', lock, owner) == 0 then
    if ARGV[5] == '1' and call('exists', lock) == 1 then
      return call('pttl', lock)
    end
    return redis.error_reply('TRYAGAIN This server lacks keys of a slot that is on its way' .. (none and ': places' or ''))
  end
end

local now = clock()
local head = first(now)

if call('exists', lock) == 0 then
  if not head or head == owner then
    call('lpop', queue)
    call('zrem', times, owner)
    -- All who wait were told to expect this owner's wait before theirs.
    for _, other in ipairs(call('zrange', times, 0, -1)) do
      call('zincrby', times, -wait, other)
    end
    call('hset', lock, owner, 1)
    call('pexpire', lock, lease)
    return nil
  end
  -- Perhaps nobody told it: the holder died, or a head gave up in silence.
  tell(head, 6)
elseif call('hexists', lock, owner) == 1 then
  call('hincrby', lock, owner, 1)
  call('pexpire', lock, lease)
  return nil
end

local left = call('pttl', lock)
if ARGV[5] ~= '1' and not call('zscore', times, owner) then
  local last = call('lindex', queue, -1)
  local till = last and call('zscore', times, last)
  local before = till and tonumber(till) - now or left
  if call('zadd', times, now + before + wait, owner) == 1 then
    call('rpush', queue, owner)
  end
end
if not head or head == owner then
  return left
end
local till = call('zscore', times, head)
for _, next in ipairs(till and redis.pcall('lrange', queue, 1, 10) or {}) do
  if next == owner then
    return till - now
  end
end
return -1
