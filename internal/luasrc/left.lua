
-- What each unlock begins with that counts holds.

-- Reads how many holds a field counts; nil, it is not there. A text that is no number
-- makes hincrby fail, and stays as it is.
local function held(lock, field)
  local n = redis.call('hget', lock, field)
  return n and (tonumber(n) or redis.call('hincrby', lock, field, 0))
end

-- Tells how many of n holds an unlock leaves: one less, but never fewer than its
-- client still needs. If exact is 1, it leaves as many as that.
local function leaves(n, least, exact)
  least = tonumber(least)
  return exact == '1' and least or math.max(least, n - 1)
end
