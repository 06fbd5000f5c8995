package rlock

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// The server does nothing else while a script runs. So one script renews a limited number of the permits that are
// due.
func TestManyPermitsAreRenewedByManyScripts(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "waits for renewals")
	s := redistest.Start(t)
	var mu sync.Mutex
	most, renewed := 0, 0
	c := open(t, s, WithCommandTimeout(10*soon), WithWatchdogTimeout(15*time.Second), WithObserver(Observer{Command: func(_ context.Context, e CommandEvent) {
		mu.Lock()
		defer mu.Unlock()
		most, renewed = max(most, e.Leases), renewed+e.Leases
	}}))
	seats := c.NewPermitSemaphore("seats")
	if _, err := seats.TrySetPermits(t.Context(), 100_000); err != nil {
		t.Fatal(err)
	}
	var all []*Permits
	for range 25 {
		p, err := seats.Acquire(t.Context(), 400)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	becomes(t, "all leases are renewed", func() bool {
		mu.Lock()
		defer mu.Unlock()
		if most > 2 {
			t.Fatalf("one script renewed %d times 400 permits", most)
		}
		return renewed >= len(all)
	})
	for _, p := range all {
		if err := errors.Join(p.Err(), p.Release(t.Context())); err != nil {
			t.Error(err)
		}
	}
}

func TestOneAcquireTakesNoMorePermitsThanOneScriptMay(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	seats := open(t, s).NewPermitSemaphore("seats")
	if _, err := seats.TrySetPermits(t.Context(), 100_000); err != nil {
		t.Fatal(err)
	}
	p, err := seats.TryAcquire(t.Context(), 5_000)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if p, err := seats.TryAcquire(t.Context(), 5_001); !errors.Is(err, ErrInvalidOption) {
		t.Errorf("%v, %v", p, err)
	}
}
