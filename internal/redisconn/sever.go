package redisconn

import (
	"maps"
	"slices"
)

// Sever ends every connection of t that is open or being greeted, at once,
// whatever is under way on it: reads end with cause. A Dial that has not
// connected yet is not among them.
func (t *Target) Sever(cause error) {
	t.open.mu.Lock()
	conns := slices.Collect(maps.Keys(t.open.set))
	t.open.mu.Unlock()
	for _, c := range conns {
		c.guard.severed.cause.CompareAndSwap(nil, &cause)
		c.Interrupt()
	}
}
