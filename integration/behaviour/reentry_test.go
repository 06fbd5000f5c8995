package behaviour_test

import (
	"context"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// crowd has so many local waiters queue for a lock and serves each. The channel gets one value a waiter.
func (r *rig) crowd(n int, l *rlock.Lock) <-chan error {
	r.Helper()
	served := make(chan error, n)
	for range n {
		go func() { served <- l.Do(r.Context(), func(context.Context) error { return nil }) }()
	}
	r.listeners(l.Name(), 1)
	return served
}

func (r *rig) served(n int, ch <-chan error) {
	r.Helper()
	for range n {
		if err := receive(r, "everybody's turn", ch); err != nil {
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
			r := on(t, r.server)
			l := c.NewLock(r.name())
			outer := r.lock(l)
			crowd := r.crowd(waiters, l)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			began := time.Now()
			for range 20 {
				inner, err := again(l, ctx, outer.Owner())
				if err != nil {
					t.Fatal(err)
				}
				r.unlock(inner)
			}
			between(t, "20 re-entries", time.Since(began), 0, 5*time.Second)
			select {
			case err := <-crowd:
				t.Fatalf("somebody entered: %v", err)
			default:
			}
			r.unlock(outer)
			r.served(waiters, crowd)
		})
	}
	t.Run("an owner that waits is let in when another call of it enters", func(t *testing.T) {
		r := on(t, r.server)
		l := c.NewLock(r.name())
		holder := r.lock(l)
		owner := c.NewOwner()
		first, second := r.enter(l, rlock.As(owner)), r.enter(l, rlock.As(owner))
		r.listeners(l.Name(), 1)
		crowd := r.crowd(waiters, l)
		r.unlock(holder)
		// Neither is released before the other has entered.
		a, b := r.entered(first), r.entered(second)
		if n := r.number("HGET", l.Name(), owner); n != 2 {
			t.Errorf("count %d", n)
		}
		r.unlock(a.hold)
		r.unlock(b.hold)
		r.served(waiters, crowd)
	})
}

func TestOwnerCrossesClients(t *testing.T) {
	r := start(t)
	here, there := r.open(), r.open()
	name := r.name()
	outer := r.lock(here.NewLock(name))
	owner, err := rlock.ParseOwner(outer.Owner().String())
	if err != nil {
		t.Fatal(err)
	}
	inner := r.lock(there.NewLock(name), rlock.As(owner))
	if n := r.number("HGET", name, owner); n != 2 {
		t.Errorf("count %d", n)
	}
	r.unlock(outer)
	if r.number("EXISTS", name) != 1 {
		t.Error("the first release freed both")
	}
	r.unlock(inner)
	if r.number("EXISTS", name) != 0 {
		t.Error("still locked")
	}
}
