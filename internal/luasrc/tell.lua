-- What each script begins with that announces something. An announcement that is refused,
-- as to an account that may not publish, ends no script: all the rest is done and kept.

local untold

-- Announces a message on a channel by a command.
local function announce(command, channel, message)
  local reply = redis.pcall(command, channel, message)
  if type(reply) == 'table' and reply.err then
    untold = reply.err
  end
end

-- Makes a reply of a result: if it could not be announced, an error that has both.
local function told(result)
  if untold and result then
    return redis.error_reply('UNTOLD ' .. result .. ' ' .. untold)
  end
  return result
end

