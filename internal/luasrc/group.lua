-- What each forced unlock begins with.

-- Tells whether KEYS[1] is the multi-lock of a group in Java, a hash under the group's name. It has three
-- fields a value: the value's hash in base64, and two more that begin with that. So any field tells. An
-- account that may not ask gets no.
local blind
local function grouped()
  local field = redis.pcall('hrandfield', KEYS[1])
  blind = type(field) == 'table' and not string.find(field.err, 'WRONGTYPE') and field.err
  return type(field) == 'string' and (string.find(field, ':expire_time$') or string.find(field, ':lock_count$')
    or #field == 22 and not string.find(field, '[^%w+/]'))
end

-- Makes a reply of a result. That a key was deleted which may have been such a one is told with why.
local function forced(result)
  return blind and result == 1 and {1, blind} or result
end

