package behaviour_test

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestForcedUnlock(t *testing.T) {
	t.Parallel()
	r := start(t)
	holder, other := r.open(), r.open()
	for _, row := range []struct {
		behaviour string
		forcer    *rlock.Client
	}{
		{"by the holder's client wakes all waiters", holder},
		{"by another client wakes all waiters", other},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			name := r.name()
			h := r.Lock(holder.NewLock(name))
			near, far := r.enter(holder.NewLock(name)), r.enter(other.NewLock(name))
			r.Listeners(name, 2)
			began := time.Now()
			if forced, err := row.forcer.NewLock(name).ForceUnlock(t.Context()); !forced || err != nil {
				t.Fatalf("forced %v, %v", forced, err)
			}
			if row.forcer == holder {
				wants(t, h.Err(), rlock.ErrLeaseLost)
			}
			for range 2 {
				var e testbed.Entry
				select {
				case e = <-near:
				case e = <-far:
				case <-time.After(patience):
					t.Fatal("nobody entered")
				}
				if e.Err != nil {
					t.Fatal(e.Err)
				}
				// The lease would have lasted for 30 s.
				between(t, "entering", e.At.Sub(began), 0, 5*time.Second)
				r.Unlock(e.Hold)
			}
			err := h.Unlock(t.Context())
			// Where another client forced it, the holder's client knows by the grant to its own waiter.
			wants(t, err, rlock.ErrNotHeld)
			wants(t, err, rlock.ErrLeaseLost)
		})
	}
	t.Run("of a free lock forces nothing", func(t *testing.T) {
		if forced, err := holder.NewLock(r.name()).ForceUnlock(t.Context()); forced || err != nil {
			t.Errorf("forced %v, %v", forced, err)
		}
	})
	t.Run("frees all holds of an owner", func(t *testing.T) {
		l := holder.NewLock(r.name())
		h := r.Lock(l)
		again := r.Lock(l, rlock.As(h.Owner()))
		if forced, err := l.ForceUnlock(t.Context()); !forced || err != nil {
			t.Fatalf("forced %v, %v", forced, err)
		}
		wants(t, h.Err(), rlock.ErrLeaseLost)
		wants(t, again.Err(), rlock.ErrLeaseLost)
		if n := r.Number("EXISTS", l.Name()); n != 0 {
			t.Error("the key is still there")
		}
	})
}
