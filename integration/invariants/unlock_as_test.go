package invariants

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// UnlockAs waits for its owner's earlier command, here an unlock that nobody answers, as long as an unlock is repeated.
func TestR2UnlockAsBehindAnOpenCommandIsBounded(t *testing.T) {
	r := newRig(t)
	r.latchesMayStay = true
	l := r.open().NewLock(name)
	h := lock(t, l)
	end := r.outage()
	released, releasedAs := make(chan error, 1), make(chan error, 1)
	go func() { released <- h.Unlock(t.Context()) }()
	testbed.Receive(t, "the hold ends", h.Done())
	began := time.Now()
	go func() { releasedAs <- l.UnlockAs(t.Context(), h.Owner()) }()
	unsaid(t, testbed.Receive(t, "UnlockAs returns", releasedAs), "earlier command")
	if took, bound := time.Since(began), 4*timeout+time.Second; took > bound+2*stall {
		t.Errorf("after %v, want no more than %v", took, bound)
	}
	want(t, testbed.Receive(t, "Unlock returns", released), rlock.ErrUncertain)
	end()
	r.Becomes("connected again", func() bool { _, err := l.IsLocked(t.Context()); return err == nil })
}

// The same where nothing is open: its question for the TTL is not answered.
func TestR2UnlockAsInAnOutageIsBounded(t *testing.T) {
	r := newRig(t)
	l := r.open().NewLock(name)
	r.occupy(name)
	o, err := rlock.ParseOwner(stranger)
	if err != nil {
		t.Fatal(err)
	}
	end := r.outage()
	began := time.Now()
	released := make(chan error, 1)
	go func() { released <- l.UnlockAs(t.Context(), o) }()
	unsaid(t, testbed.Receive(t, "UnlockAs returns", released), "not released")
	if took, bound := time.Since(began), 4*timeout+time.Second; took > bound+2*stall {
		t.Errorf("after %v, want no more than %v", took, bound)
	}
	end()
	r.Becomes("connected again", func() bool { _, err := l.IsLocked(t.Context()); return err == nil })
	r.heldOnlyBy(name, o, 1)
}
