package behaviour_test

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

func TestWaiterEntersWhenLeaseExpires(t *testing.T) {
	t.Parallel()
	const lease = 3 * time.Second
	r := start(t)
	name := r.name()
	began := time.Now()
	h := r.Lock(r.open().NewLock(name), rlock.Lease(lease))
	waiter := r.enter(r.open().NewLock(name))
	r.Listeners(name, 1)
	e := r.Entered(waiter)
	between(t, "the wait since the acquire began", e.At.Sub(began), lease, lease+2*time.Second)
	wants(t, h.Err(), rlock.ErrLeaseLost)
	wants(t, h.Unlock(t.Context()), rlock.ErrNotHeld)
	if n, err := r.open().NewLock(name).HoldCount(t.Context(), e.Hold.Owner()); n != 1 || err != nil {
		t.Errorf("the late unlock touched another's hold: %d, %v", n, err)
	}
	r.Unlock(e.Hold)
}

func TestRenewalKeepsWaiterOut(t *testing.T) {
	t.Parallel()
	const timeout = 4 * time.Second
	r := start(t)
	name := r.name()
	h := r.Lock(r.open(rlock.WithWatchdogTimeout(timeout)).NewLock(name))
	other := r.open().NewLock(name)
	_, err := other.TryLockFor(t.Context(), 2*timeout)
	wants(t, err, rlock.ErrLocked)
	if err := h.Err(); err != nil {
		t.Errorf("after three leases: %v", err)
	}
	r.Unlock(h)
	r.Unlock(r.Lock(other))
}
