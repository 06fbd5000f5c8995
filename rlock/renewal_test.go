package rlock

import (
	"fmt"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// A writer's field is named by more than its owner, so the script that renews plain locks would not
// find it.
func TestLocksOfAllKindsAreRenewedTogether(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "waits for renewals")
	var beside redistest.Parts
	defer beside.Wait()
	for _, first := range []int{0, 1} {
		beside.Run(t, fmt.Sprint(first), func(t *testing.T) {
			c := open(t, redistest.Start(t), WithWatchdogTimeout(6*time.Second))
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
			for range 2 {
				areRenewed(t, holds...)
			}
			for _, h := range holds {
				mustUnlock(t, h)
			}
		})
	}
}
