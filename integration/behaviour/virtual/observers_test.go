package virtual_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// A blocked or panicking observer stops no renewals. The lease of a call that it blocks is renewed, too.
func TestSlowOrPanickingObserverCostsNoLease(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		still, log := make(chan struct{}), &lines{}
		c := r.open(rlock.WithLogger(slog.New(log)), rlock.WithObserver(rlock.Observer{
			Acquire: func(context.Context, rlock.Subject) context.Context { panic("acquire") },
			Command: func(context.Context, rlock.CommandEvent) { panic("command") },
			Renewed: func(rlock.Subject, rlock.RenewalEvent) { <-still },
			Ended:   func(rlock.Subject, rlock.HoldEvent) { panic("ended") },
			Acquired: func(_ context.Context, s rlock.Subject, _ rlock.AcquireEvent) {
				if s.Name == "slow" {
					<-still
				}
			},
		}))
		slow := make(chan *rlock.Hold, 1)
		go func() { slow <- must(c.NewLock("slow").Lock(ctx))(r) }()
		var holds []*rlock.Hold
		for i := range 60 {
			holds = append(holds, must(c.NewLock(fmt.Sprint("lock-", i)).Lock(ctx))(r))
		}
		r.pass(5 * time.Minute)
		for _, h := range holds {
			r.goesOn(h)
			must(0, h.Unlock(ctx))(r)
		}
		if n := c.Stats().Renewals; n < 60 {
			t.Errorf("%d renewals", n)
		}
		close(still)
		r.goesOn(<-slow)
		if log.of("observer panicked") == 0 {
			t.Error("no panic was logged")
		}
	})
}

// An observer that ends its goroutine, as t.FailNow does, gets all later events, and so do the others.
func TestObserverThatEndsItsGoroutineHearsOn(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		var first, second atomic.Int32
		var log strings.Builder
		c := r.open(rlock.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
			rlock.WithObserver(rlock.Observer{Renewed: func(rlock.Subject, rlock.RenewalEvent) {
				first.Add(1)
				runtime.Goexit()
			}}),
			rlock.WithObserver(rlock.Observer{Renewed: func(rlock.Subject, rlock.RenewalEvent) { second.Add(1) }}))
		for _, name := range []string{"a", "b"} {
			must(c.NewLock(name).Lock(ctx))(r)
		}
		r.pass(5 * time.Minute)
		must(0, c.Close())(r)
		if a, b := first.Load(), second.Load(); a < 30 || a != b {
			t.Errorf("one was told %d times, the other %d", a, b)
		}
		if n := c.Stats().Unobserved; n != 0 {
			t.Errorf("%d events were dropped", n)
		}
		if !strings.Contains(log.String(), "ended its goroutine") {
			t.Error("nothing is logged")
		}
	})
}
