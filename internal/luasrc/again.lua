-- What the acquire of an owner for which only its client acts begins with when it is sent
-- again, because its reply was lost. Its client says how many holds the owner has with
-- this one. If the owner holds the lock, it gets so many, however often this runs. If its
-- other holds are gone, it is told so. Else the acquire goes on as it began.
--
-- ARGV[#ARGV] how many holds the owner has with this one; the scripts behind don't see it
--
-- Reply: GONE, its other holds are; else as of the acquire.

local again = tonumber(table.remove(ARGV))

-- Gives an owner as many holds, of which it has n, and the lock the lease.
local function make(lock, field, n, lease)
  -- In this order, because a full server accepts hincrby only behind another write.
  redis.call('pexpire', lock, lease)
  redis.call('hincrby', lock, field, again - n)
end

-- Tells an owner without a hold that others of its holds are gone: nobody has the lock.
local function gone(lock)
  return again > 1 and redis.call('exists', lock) == 0 and redis.status_reply('GONE')
end

