-- A read lock: each hold has its key, with numbers from 1 on.
local mode, n = redis.call('hget', KEYS[1], 'mode'), held(KEYS[1], ARGV[2])
local may = mode == 'read' or mode == 'write' and redis.call('hexists', KEYS[1], ARGV[2] .. ':write') == 1
if n and may then
  local function hold(i)
    return ARGV[3] .. ':' .. ARGV[2] .. ':rwlock_timeout:' .. i
  end
  make(KEYS[1], ARGV[2], n, math.max(ARGV[1], redis.call('pttl', KEYS[1])))
  for i = again + 1, n do
    redis.call('del', hold(i))
  end
  for i = math.min(n + 1, again), again do
    redis.call('set', hold(i), 1, 'px', ARGV[1])
  end
  return nil
end
local over = not n and (may and again > 1 and redis.status_reply('GONE') or gone(KEYS[1]))
if over then
  return over
end

