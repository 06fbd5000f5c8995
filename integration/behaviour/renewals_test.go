package behaviour_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/watchdog"
)

func TestTenThousandHoldsAreRenewedInBatches(t *testing.T) {
	const holds, timeout, ticks = 10_000, 6 * time.Second, 3
	r, _ := own(t)
	c := r.open(rlock.WithWatchdogTimeout(timeout))
	held := make([]*rlock.Hold, holds)
	each(100, holds, func(i int) {
		h, err := c.NewLock(fmt.Sprint("held-", i)).TryLock(t.Context())
		if err != nil {
			t.Error(err)
			return
		}
		held[i] = h
	})
	if t.Failed() {
		t.FailNow()
	}
	// After the first round each lease is as old as those of its batch.
	<-time.After(timeout / 2)
	before := r.Calls()["EVALSHA"]
	<-time.After(ticks * timeout / 3)
	perTick := float64(r.Calls()["EVALSHA"]-before) / ticks
	t.Logf("10,000 holds: %.1f EVALSHA a tick", perTick)
	const full = holds / watchdog.MaxBatch
	if perTick < full-1 || perTick > full+1 {
		t.Errorf("%.1f EVALSHA a tick, want at most %d", perTick, full+1)
	}
	for i, h := range held {
		if err := h.Err(); err != nil {
			t.Fatalf("hold %d: %v", i, err)
		}
	}
	if n := r.Number("DBSIZE"); n != holds {
		t.Errorf("%d keys", n)
	}
	each(100, holds, func(i int) {
		if err := held[i].Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
	r.Becomes("every key and latch is gone", func() bool { return r.Number("DBSIZE") == 0 })
}

// each calls fn for 0 to n-1 from so many goroutines.
func each(goroutines, n int, fn func(i int)) {
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := g; i < n; i += goroutines {
				fn(i)
			}
		})
	}
	all.Wait()
}
