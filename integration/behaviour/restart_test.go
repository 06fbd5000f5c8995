package behaviour_test

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestRestartOfTheServer(t *testing.T) {
	t.Parallel()
	const timeout = 9 * time.Second
	everywhere(t, func(r *rig) {
		r.part("with its data: the hold lives on, the waiter waits on", func(r *rig) {
			h, waiter := r.heldAndAwaited(timeout)
			r.Server.Restart()
			r.Redial()
			r.Listeners(h.Name(), 1) // it came back
			stood := h.ValidUntil()
			r.Becomes("a renewal", func() bool { return h.ValidUntil().After(stood.Add(timeout / 10)) })
			if err := h.Err(); err != nil {
				r.Fatal(err)
			}
			if count := r.Text("HGET", h.Name(), h.Owner()); count != "1" {
				r.Errorf("count %q", count)
			}
			r.outside(waiter)
			began := time.Now()
			r.Unlock(h)
			e := r.Entered(waiter)
			between(r, "waking up", e.At.Sub(began), 0, 3*time.Second)
			r.Unlock(e.Hold)
		})
		r.part("without its data: the hold is told, the waiter enters", func(r *rig) {
			h, waiter := r.heldAndAwaited(timeout)
			r.Server.Wipe()
			back := time.Now()
			r.Redial()
			e := r.Entered(waiter)
			if took := e.At.Sub(back); took > 5*time.Second {
				r.Errorf("the waiter entered %v after the server was back", took)
			}
			testbed.Receive(r, "the hold to be told", h.Done())
			// By the next renewal, not by the end of the lease.
			between(r, "telling", time.Since(back), 0, timeout/3+2*time.Second)
			wants(r, h.Err(), rlock.ErrLeaseLost)
			r.passedOn(h, e)
		})
	})
}
