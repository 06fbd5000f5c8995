-- A fenced lock: whatever is granted has a new number.
local n = held(KEYS[1], ARGV[2])
if n then
  local token = redis.call('incr', KEYS[2])
  make(KEYS[1], ARGV[2], n, ARGV[1])
  return {token}
end
local over = gone(KEYS[1])
if over then
  return over
end

