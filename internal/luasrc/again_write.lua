-- A write lock: it lives for the longer of what it had and the lease.
local writer = ARGV[2] .. ':write'
local n = held(KEYS[1], writer)
if n and redis.call('hget', KEYS[1], 'mode') == 'write' then
  make(KEYS[1], writer, n, math.max(ARGV[1], redis.call('pttl', KEYS[1])))
  return nil
end
local over = not n and gone(KEYS[1])
if over then
  return over
end

