package rlock

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/redistest"
)

// A writer's field in the lock is not its owner's alone: no script that renews plain locks finds it.
func TestLocksOfAllKindsAreRenewedTogether(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "waits for renewals")
	s := redistest.Start(t)
	for _, first := range []int{0, 1} {
		c := open(t, s, WithWatchdogTimeout(2*time.Second))
		rw := c.NewReadWriteLock("prices")
		all := []*Lock{
			c.NewLock("account"), rw.WriteLock(), c.NewReadWriteLock("stock").ReadLock(), c.NewSpinLock("spin"),
			c.NewFairLock("fair"), c.NewFencedLock("fenced"), c.NewNonReentrantLock("once"),
		}
		all[0], all[first] = all[first], all[0]
		var holds []*Hold
		for _, l := range all {
			holds = append(holds, lockOf(t, l))
		}
		time.Sleep(2500 * time.Millisecond) // each was renewed twice
		for _, h := range holds {
			if err := h.Err(); err != nil {
				t.Errorf("%s, with %s first: %v", h.Name(), all[0].Name(), err)
			}
			unlock(t, h)
		}
	}
}
