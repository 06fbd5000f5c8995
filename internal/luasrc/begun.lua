-- What each script of a number begins with.
--
-- KEYS[1] the number
-- KEYS[2] a receipt
-- KEYS[3] the mark, by which a number is told from a later one of the same name. It has the
--         time in ms of the first call by which the number is known, times 4096, and digits
--         of that call's: an even number if that call made it, an odd one if it was there
--         already. It lives as long as the number, and for an hour at most
--
-- While a cluster moves their slot, the server that has the number can be called with that
-- key alone, and the other names as its first arguments. It may lack keys that the other
-- server has, and if the slot leaves it, it makes none.

local call, more = redis.call, 0
local number, receipt, begun = KEYS[1], KEYS[2], KEYS[3]
if not receipt then
  receipt, begun, more = ARGV[1], ARGV[2], 2
end

-- Makes a receipt where the other names may be elsewhere. Returns an error if this server makes
-- none, so that the call waits until the keys are in one place.
local function reserved(life)
  local made = more > 0 and redis.pcall('set', receipt, '?', 'px', life, 'nx')
  if made and made.err then
    return redis.error_reply('TRYAGAIN This server makes no key of a slot that leaves it')
  end
  return made
end

-- Reads the time in ms.
local function clock()
  local t = call('time')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- Tells whether the number was made less than so many ms ago, by a call that marked it.
local function young(ms)
  local text = ms > 0 and more == 0 and call('get', begun)
  return text and text % 2 == 0 and math.floor(text / 4096) > clock() - ms
end

-- Reads the text of the mark, or marks a number that is not known so far, or was just made.
local function known(made)
  if more > 0 then
    return '1'
  end
  local text, life = not made and call('get', begun), call('pttl', number)
  if life < 0 or life > 3600000 then
    life = 3600000
  end
  life = math.max(life, 1) -- in its last millisecond the number's is 0, which no key can be given
  if not text then
    local id = tonumber(string.sub(receipt, -3), 16) -- which is random
    text = string.format('%.0f', clock() * 4096 + id - id % 2 + (made and 0 or 1))
    call('set', begun, text, 'px', life)
    return text
  end
  local left = call('pttl', begun)
  if left > life or left < life / 2 then
    call('pexpire', begun, life)
  end
  return text
end

-- Deletes the mark. With one key the server may have none, and must not look for it.
local function unmark()
  redis.pcall('del', begun)
end

