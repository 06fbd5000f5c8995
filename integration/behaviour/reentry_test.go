package behaviour_test

import (
	"context"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// crowd has so many local waiters queue for a lock and serves each. The channel gets one value a waiter.
func (r *rig) crowd(n int, l *rlock.Lock) <-chan error {
	r.Helper()
	served := make(chan error, n)
	for range n {
		go func() { served <- l.Do(r.Context(), func(context.Context) error { return nil }) }()
	}
	r.Listeners(l.Name(), 1)
	return served
}

func (r *rig) served(n int, ch <-chan error) {
	r.Helper()
	for range n {
		if err := testbed.Receive(r, "everybody's turn", ch); err != nil {
			r.Fatal(err)
		}
	}
}

func TestReentryPassesTheQueue(t *testing.T) {
	const waiters = 100
	r := start(t)
	c := r.open()
	for behaviour, again := range map[string]func(l *rlock.Lock, ctx context.Context, owner rlock.Owner) (*rlock.Hold, error){
		"Lock": func(l *rlock.Lock, ctx context.Context, owner rlock.Owner) (*rlock.Hold, error) {
			return l.Lock(ctx, rlock.As(owner))
		},
		"TryLock": func(l *rlock.Lock, ctx context.Context, owner rlock.Owner) (*rlock.Hold, error) {
			return l.TryLock(ctx, rlock.As(owner))
		},
		"TryLockFor": func(l *rlock.Lock, ctx context.Context, owner rlock.Owner) (*rlock.Hold, error) {
			return l.TryLockFor(ctx, patience, rlock.As(owner))
		},
	} {
		t.Run(behaviour, func(t *testing.T) {
			r := on(t, r.Server)
			l := c.NewLock(r.name())
			outer := r.Lock(l)
			crowd := r.crowd(waiters, l)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			began := time.Now()
			for range 20 {
				inner, err := again(l, ctx, outer.Owner())
				if err != nil {
					t.Fatal(err)
				}
				r.Unlock(inner)
			}
			between(t, "20 re-entries", time.Since(began), 0, 5*time.Second)
			select {
			case err := <-crowd:
				t.Fatalf("somebody entered: %v", err)
			default:
			}
			r.Unlock(outer)
			r.served(waiters, crowd)
		})
	}
	t.Run("an owner that waits is let in when another call of it enters", func(t *testing.T) {
		r := on(t, r.Server)
		l := c.NewLock(r.name())
		holder := r.Lock(l)
		owner := c.NewOwner()
		first, second := r.enter(l, rlock.As(owner)), r.enter(l, rlock.As(owner))
		r.Listeners(l.Name(), 1)
		crowd := r.crowd(waiters, l)
		r.Unlock(holder)
		// Neither is released before the other has entered.
		a, b := r.Entered(first), r.Entered(second)
		if n := r.Number("HGET", l.Name(), owner); n != 2 {
			t.Errorf("count %d", n)
		}
		r.Unlock(a.Hold)
		r.Unlock(b.Hold)
		r.served(waiters, crowd)
	})
}

func TestOwnerCrossesClients(t *testing.T) {
	r := start(t)
	here, there := r.open(), r.open()
	name := r.name()
	outer := r.Lock(here.NewLock(name))
	owner, err := rlock.ParseOwner(outer.Owner().String())
	if err != nil {
		t.Fatal(err)
	}
	inner := r.Lock(there.NewLock(name), rlock.As(owner))
	if n := r.Number("HGET", name, owner); n != 2 {
		t.Errorf("count %d", n)
	}
	r.Unlock(outer)
	if r.Number("EXISTS", name) != 1 {
		t.Error("the first release freed both")
	}
	r.Unlock(inner)
	if r.Number("EXISTS", name) != 0 {
		t.Error("still locked")
	}
}
