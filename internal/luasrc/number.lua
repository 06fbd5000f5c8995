-- What each script begins with that changes a number and tells who waits for it.
--
-- KEYS[1]  the number
-- KEYS[2]  a receipt
-- ARGV[1]  the channel
-- ARGV[2]  how many commands announce
-- ARGV[3…] these

local call = redis.call
local number, receipt, from = KEYS[1], KEYS[2], 3 + ARGV[2]

-- Tells who waits.
local function tell(what)
  for i = 3, from - 1 do
    announce(ARGV[i], ARGV[1], what)
  end
end

