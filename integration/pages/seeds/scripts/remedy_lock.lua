local key = KEYS[1]
local threadId = ARGV[1]
local releaseTime = ARGV[2]

if (redis.call('EXISTS',key)==0) then
    redis.call('hset',key,threadId,'1')
    redis.call('EXPIRE',key,releaseTime)
    return 1;
end

if (redis.call('hexists',key,threadId)==1) then
    redis.call("HINCRBY",key,threadId,1)
    redis.call('EXPIRE',key,releaseTime)
end
