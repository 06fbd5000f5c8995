-- Frees the lock whoever holds it, and tells the owner whose turn is next.
--
-- ARGV[2…] the commands that announce
--
-- Reply: 1, there was a lock; 0, there was none, and nobody is told; 2, it is the multi-lock of a
-- group, and was left alone. Or {1, why it was not asked whether it is one}.

if grouped() then
  return 2
end
local head = first(clock())
if call('del', lock) == 0 then
  return 0
end
tell(head, 2)
return forced(told(1))
