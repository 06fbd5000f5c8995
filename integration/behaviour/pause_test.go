package behaviour_test

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// renewed waits for the next renewal of a hold and returns its ValidUntil.
func (r *rig) renewed(h *rlock.Hold, timeout time.Duration) time.Time {
	r.Helper()
	stood := h.ValidUntil()
	r.Becomes("a renewal", func() bool { return h.ValidUntil().After(stood.Add(timeout / 10)) })
	return h.ValidUntil()
}

// toldOnTime watches a hold that is renewed no more until it says so itself, and checks by the clock at each moment
// that it never says "held" after its ValidUntil.
func (r *rig) toldOnTime(h *rlock.Hold) {
	r.Helper()
	// The instant stays the same; a reading that was interrupted gives an earlier one, never a later.
	until := h.ValidUntil()
	for {
		asked := time.Now()
		err := h.Err()
		if err != nil {
			wants(r, err, rlock.ErrLeaseLost)
			break
		}
		until = later(until, h.ValidUntil())
		if late := asked.Sub(until); late > 2*time.Millisecond {
			r.Fatalf("Err is nil %v after ValidUntil", late)
		}
		if time.Until(until) > 30*time.Millisecond {
			<-time.After(10 * time.Millisecond)
		}
	}
	testbed.Receive(r, "Done", h.Done())
	between(r, "telling, after ValidUntil", time.Since(until), -2*time.Millisecond, time.Second)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func TestServerThatStandsStill(t *testing.T) {
	t.Parallel()
	everywhere(t, func(r *rig) {
		r.part("longer than the lease: the hold is told on time, the waiter enters afterwards", func(r *rig) {
			const timeout = 4 * time.Second
			h, waiter := r.heldAndAwaited(timeout, rlock.WithCommandTimeout(2*time.Second))
			r.renewed(h, timeout)
			r.Server.Pause()
			r.toldOnTime(h)
			r.outside(waiter)
			// The server's own end of the lease comes a little later.
			<-time.After(timeout)
			resuming := time.Now()
			r.Server.Resume()
			e := r.Entered(waiter)
			between(r, "entering", e.At.Sub(resuming), 0, 5*time.Second)
			r.passedOn(h, e)
		})
		r.part("shorter than the lease: the hold survives", func(r *rig) {
			const timeout = 9 * time.Second
			h, waiter := r.heldAndAwaited(timeout, rlock.WithCommandTimeout(2*time.Second))
			until := r.renewed(h, timeout)
			r.Server.Pause()
			// Long enough for a renewal to be due and to fail.
			<-time.After(timeout/3 + 800*time.Millisecond)
			if err := h.Err(); err != nil {
				r.Fatal(err)
			}
			if moved := h.ValidUntil().Sub(until); moved > timeout/10 {
				r.Errorf("ValidUntil moved by %v without an answer", moved)
			}
			r.Server.Resume()
			r.renewed(h, timeout)
			r.outside(waiter)
			r.Unlock(h)
			r.Unlock(r.Entered(waiter).Hold)
		})
	})
}

// heldAndAwaited has one client hold a lock, renewed by a watchdog of that timeout, and another wait for it.
func (r *rig) heldAndAwaited(watchdog time.Duration, opts ...rlock.Option) (*rlock.Hold, <-chan testbed.Entry) {
	r.Helper()
	name := r.name()
	h := r.Lock(r.open(append(opts, rlock.WithWatchdogTimeout(watchdog))...).NewLock(name))
	waiter := r.enter(r.open(opts...).NewLock(name))
	r.Listeners(name, 1)
	return h, waiter
}

// passedOn checks that a lost hold is over for its owner, and that the waiter who entered holds once, and releases.
func (r *rig) passedOn(lost *rlock.Hold, e testbed.Entry) {
	r.Helper()
	err := lost.Unlock(r.Context())
	wants(r, err, rlock.ErrLeaseLost)
	wants(r, err, rlock.ErrNotHeld)
	if count := r.Text("HGET", lost.Name(), e.Hold.Owner()); count != "1" || e.Hold.Err() != nil {
		r.Errorf("the waiter's hold: count %q, %v", count, e.Hold.Err())
	}
	r.Unlock(e.Hold)
}
