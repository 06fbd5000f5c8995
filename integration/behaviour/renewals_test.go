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
	before := r.Calls()
	<-time.After(ticks * timeout / 3)
	after := r.Calls()
	scripts, renewed := after["EVALSHA"]-before["EVALSHA"], after["PEXPIRE"]-before["PEXPIRE"]
	t.Logf("10,000 holds: %.1f a script, each renewed %.2f times in %d ticks", float64(renewed)/float64(scripts), float64(renewed)/holds, ticks)
	// A batch that a busy machine makes late gets a new place in the third, and may meet fewer there.
	if full := renewed / watchdog.MaxBatch; scripts > full+full/100 {
		t.Errorf("%d scripts for %d renewals, which fit into %d", scripts, renewed, full)
	}
	// A tick begins or ends a little late where the machine is busy.
	if renewed < (ticks-1)*holds || renewed > (2*ticks+1)*holds/2 {
		t.Errorf("%d holds were renewed %d times in %d ticks", holds, renewed, ticks)
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
