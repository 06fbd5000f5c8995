-- Deletes a semaphore with all its permits, whoever took them. Nobody is told.
--
-- Reply: 1, there was one; 0, there was none.

call('zcard', times) -- fails for a key of another type
return math.min(call('del', free, times), 1)
