-- A plain lock, and one that refuses its own owner: such an acquire did not run if the owner
-- has holds of before.
local n = held(KEYS[1], ARGV[2])
if n and again > 1 and ARGV[3] then
  return redis.status_reply(ARGV[3])
elseif n then
  make(KEYS[1], ARGV[2], n, ARGV[1])
  return nil
end
local over = gone(KEYS[1])
if over then
  return over
end

