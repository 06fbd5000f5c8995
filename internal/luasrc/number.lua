-- What each script begins with that changes a number and tells who waits for it.
--
-- ARGV[1]  the channel
-- ARGV[2]  how many commands announce
-- ARGV[3…] these

local from = 3 + more + ARGV[2 + more]

-- Tells who waits.
local function tell(what)
  for i = 3 + more, from - 1 do
    announce(ARGV[i], ARGV[1 + more], what)
  end
end

-- Makes a reply of a result that is the text of a number.
local function answer(result)
  return untold and told(result) or tonumber(result)
end

