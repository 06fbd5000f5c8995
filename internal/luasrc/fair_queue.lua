-- What each script of a fair lock begins with.
--
-- KEYS[1]  the lock
-- KEYS[2]  the queue: a list of the owners that wait
-- KEYS[3]  the times: a sorted set, until when each of them keeps its place, in ms
-- ARGV[1]  what the channel of each owner begins with
--
-- While a cluster moves their slot, the server that has the lock can be called with that
-- key alone to acquire it or to give it up, and the next two names as its first arguments.
-- It may lack the queue, which the other server has then, or nobody waits.

local call = redis.call
local lock, queue, times = KEYS[1], KEYS[2], KEYS[3]
local alone = not queue
if alone then
  queue, times = table.remove(ARGV, 1), table.remove(ARGV, 1)
end

-- Reads the time in ms. The server's clock is one for all clients.
local function clock()
  local t = call('time')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- Finds the owner whose turn is next, and drops those before it whose time is over.
local function first(now)
  if alone then
    local head = redis.pcall('lindex', queue, 0)
    return type(head) == 'string' and head
  end
  while true do
    local head = call('lindex', queue, 0)
    local till = head and call('zscore', times, head)
    if not till or tonumber(till) > now then
      return head
    end
    call('zrem', times, head)
    call('lpop', queue)
  end
end

-- Tells an owner, if there is one, that the lock is free, by the commands that
-- ARGV has from an index on.
local function tell(owner, from)
  for i = from, owner and #ARGV or 0 do
    announce(ARGV[i], ARGV[1] .. ':' .. owner, '0')
  end
end

