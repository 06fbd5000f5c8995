package behaviour_test

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

func TestRestartOfTheServer(t *testing.T) {
	t.Parallel()
	const timeout = 6 * time.Second
	everywhere(t, func(r *rig) {
		r.part("with its data: the hold lives on, the waiter waits on", func(r *rig) {
			name := r.name()
			h := r.lock(r.open(rlock.WithWatchdogTimeout(timeout)).NewLock(name))
			waiter := r.enter(r.open().NewLock(name))
			r.listeners(name, 1)
			r.server.Restart()
			r.redial()
			r.listeners(name, 1) // it came back
			stood := h.ValidUntil()
			r.becomes("a renewal", func() bool { return h.ValidUntil().After(stood.Add(timeout / 10)) })
			if err := h.Err(); err != nil {
				r.Fatal(err)
			}
			if count := r.text("HGET", name, h.Owner()); count != "1" {
				r.Errorf("count %q", count)
			}
			r.outside(waiter)
			began := time.Now()
			r.unlock(h)
			e := r.entered(waiter)
			between(r, "waking up", e.at.Sub(began), 0, 3*time.Second)
			r.unlock(e.hold)
		})
		r.part("without its data: the hold is told, the waiter enters", func(r *rig) {
			name := r.name()
			h := r.lock(r.open(rlock.WithWatchdogTimeout(timeout)).NewLock(name))
			waiter := r.enter(r.open().NewLock(name))
			r.listeners(name, 1)
			r.server.Wipe()
			back := time.Now()
			r.redial()
			e := r.entered(waiter)
			if took := e.at.Sub(back); took > 5*time.Second {
				r.Errorf("the waiter entered %v after the server was back", took)
			}
			receive(r, "the hold to be told", h.Done())
			// By the next renewal, not by the end of the lease.
			between(r, "telling", time.Since(back), 0, timeout/3+2*time.Second)
			wants(r, h.Err(), rlock.ErrLeaseLost)
			err := h.Unlock(r.Context())
			wants(r, err, rlock.ErrLeaseLost)
			wants(r, err, rlock.ErrNotHeld)
			if count := r.text("HGET", name, e.hold.Owner()); count != "1" || e.hold.Err() != nil {
				r.Errorf("the waiter's hold: count %q, %v", count, e.hold.Err())
			}
			r.unlock(e.hold)
		})
	})
}
