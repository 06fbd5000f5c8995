package behaviour_test

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestNetworkThatIsCutAndHeals(t *testing.T) {
	t.Parallel()
	s := redisserver.Container(t)
	const command = 2 * time.Second
	on(t, s).part("within the lease: renewals fail meanwhile, the hold survives, the waiter enters after it", func(r *rig) {
		const timeout = 9 * time.Second
		h, waiter := r.heldAndAwaited(timeout, rlock.WithCommandTimeout(command))
		until := r.renewed(h, timeout)
		s.CutNetwork()
		<-time.After(timeout/3 + command/2)
		testbed.Must(r, h.Err())
		if moved := h.ValidUntil().Sub(until); moved > timeout/10 {
			r.Errorf("ValidUntil moved by %v without a network", moved)
		}
		s.ReconnectNetwork()
		r.renewed(h, timeout)
		r.Redial()
		if count := r.Text("HGET", h.Name(), h.Owner()); count != "1" {
			r.Errorf("count %q", count)
		}
		r.outside(waiter)
		r.Unlock(h)
		r.Unlock(r.Entered(waiter).Hold)
	})
	on(t, s).part("beyond the lease: the hold is told on time, the waiter enters when it heals", func(r *rig) {
		const timeout = 4 * time.Second
		h, waiter := r.heldAndAwaited(timeout, rlock.WithCommandTimeout(command))
		r.renewed(h, timeout)
		s.CutNetwork()
		r.toldOnTime(h)
		<-time.After(timeout)
		r.outside(waiter)
		s.ReconnectNetwork()
		e := r.Entered(waiter)
		r.Redial()
		r.passedOn(h, e)
	})
	on(t, s).part("under way to an unlock: it is repeated until it is answered", func(r *rig) {
		name := r.name()
		h := r.Lock(r.open(rlock.WithCommandTimeout(command)).NewLock(name))
		s.CutNetwork()
		released := testbed.Begun(func() error { return h.Unlock(r.Context()) })
		<-time.After(2 * command)
		s.ReconnectNetwork()
		if err := testbed.Receive(r, "the unlock", released); err != nil {
			r.Error(err)
		}
		r.Redial()
		if r.Number("EXISTS", name) != 0 {
			r.Error("still locked")
		}
	})
}

// renewed waits for the next renewal of a hold and returns its ValidUntil.
func (r *rig) renewed(h *rlock.Hold, timeout time.Duration) time.Time {
	r.Helper()
	stood := h.ValidUntil()
	r.Becomes("a renewal", func() bool { return h.ValidUntil().After(stood.Add(timeout / 10)) })
	return h.ValidUntil()
}

// toldOnTime polls a hold that cannot be renewed until Err reports the loss. It checks that Err is never nil after
// ValidUntil.
func (r *rig) toldOnTime(h *rlock.Hold) {
	r.Helper()
	// ValidUntil stays the same. An interrupted reading returns an earlier time, never a later one.
	until := h.ValidUntil()
	for {
		asked := time.Now()
		err := h.Err()
		if err != nil {
			wants(r, err, rlock.ErrLeaseLost)
			break
		}
		if read := h.ValidUntil(); read.After(until) {
			until = read
		}
		if late := asked.Sub(until); late > 2*time.Millisecond {
			r.Fatalf("Err is nil %v after ValidUntil", late)
		}
		if time.Until(until) > 30*time.Millisecond {
			<-time.After(10 * time.Millisecond)
		}
	}
	testbed.Receive(r, "Done", h.Done())
	notBefore(r, "telling, after ValidUntil", time.Since(until), -2*time.Millisecond)
}

// heldAndAwaited has one client hold a lock, renewed with that watchdog timeout, and another wait for it.
func (r *rig) heldAndAwaited(watchdog time.Duration, opts ...rlock.Option) (*rlock.Hold, <-chan testbed.Entry) {
	r.Helper()
	name := r.name()
	h := r.Lock(r.open(append(opts, rlock.WithWatchdogTimeout(watchdog))...).NewLock(name))
	waiter := r.enter(r.open(opts...).NewLock(name))
	r.Listeners(name, 1)
	return h, waiter
}

// passedOn checks that the lost hold's Unlock reports the loss and that the waiter holds once, and releases it.
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
