-- Counts the permits, and takes those back whose time is over. To call it twice is as
-- good as once.
--
-- Reply: how many are free, and how many are taken.

clean(clock(), -1)
return {tonumber(number() or 0), call('zcount', times, 0, '+inf')}
