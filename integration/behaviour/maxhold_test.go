package behaviour_test

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestMaxHoldLetsAStuckHolderGo(t *testing.T) {
	t.Parallel()
	const timeout, longest = 1200 * time.Millisecond, 2 * time.Second
	r := start(t)
	l := r.open(rlock.WithWatchdogTimeout(timeout)).NewLock(r.name())
	waiting := r.open().NewLock(l.Name())
	began := time.Now()
	h := r.Lock(l, rlock.MaxHold(longest))
	waiter := r.enter(waiting)
	r.Listeners(l.Name(), 1)
	testbed.Receive(r, "the hold's end", h.Done())
	wants(t, h.Err(), rlock.ErrLeaseLost)
	between(t, "the hold", time.Since(began), longest-timeout/100, longest+timeout+time.Second)
	e := r.Entered(waiter)
	between(t, "the key's life", e.At.Sub(began), longest, longest+timeout+time.Second)
	r.Unlock(e.Hold)
}

func TestMaxHoldThatIsNotReachedChangesNothing(t *testing.T) {
	r := start(t)
	l := r.open().NewLock(r.name())
	h := r.Lock(l, rlock.MaxHold(time.Hour))
	if left := r.PTTL(l.Name()); left > 30*time.Second || left < 20*time.Second {
		t.Errorf("PTTL %v", left)
	}
	r.Unlock(h)
}
