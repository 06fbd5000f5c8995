-- A fair lock: the queue stays as it is. An owner that waits has its place.
local n = held(lock, ARGV[2])
if n then
  make(lock, ARGV[2], n, ARGV[3])
  return nil
end
local over = gone(lock)
if over then
  return over
end

