package rlock

import (
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestNonReentrantLockIsNotEnteredTwice(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	l, plain := a.NewNonReentrantLock("orders"), a.NewLock("orders")
	h := lockOf(t, l)
	o := h.Owner()
	for what, try := range map[string]func() (*Hold, error){
		"Lock":         func() (*Hold, error) { return l.Lock(t.Context(), As(o)) },
		"TryLock":      func() (*Hold, error) { return l.TryLock(t.Context(), As(o)) },
		"TryLockFor":   func() (*Hold, error) { return l.TryLockFor(t.Context(), time.Minute, As(o)) },
		"with a lease": func() (*Hold, error) { return l.Lock(t.Context(), As(o), Lease(time.Second)) },
		"elsewhere":    func() (*Hold, error) { return b.NewNonReentrantLock("orders").Lock(t.Context(), As(o)) },
	} {
		if _, err := try(); !errors.Is(err, ErrReentered) || errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", what, err)
		}
	}
	counts(t, l, o, 1)
	if ttl, err := l.RemainTTL(t.Context()); err != nil || ttl < 20*time.Second {
		t.Errorf("the hold has %v, %v", ttl, err)
	}
	if _, err := l.TryLock(t.Context()); !errors.Is(err, ErrLocked) {
		t.Errorf("another owner: %v", err)
	}
	// A plain handle lets the owner re-enter. The non-reentrant one refuses beside a plain hold,
	// too.
	again := lockOf(t, plain, As(o))
	counts(t, l, o, 2)
	mustUnlock(t, h)
	if _, err := l.TryLock(t.Context(), As(o)); !errors.Is(err, ErrReentered) {
		t.Errorf("of a plain hold: %v", err)
	}
	if err := again.Err(); err != nil {
		t.Error(err)
	}
	mustUnlock(t, again)
	mustUnlock(t, lockOf(t, l, As(o)))
	if l.l.Snapshot().Known {
		t.Error("something of the name is left")
	}
}

// A waiter whose owner gets the lock by another call would wait for itself.
func TestWaitingOwnerOfANonReentrantLockIsToldThatItHolds(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	held := lockOf(t, a.NewNonReentrantLock("orders"))
	l, o := b.NewNonReentrantLock("orders"), b.NewOwner()
	type end struct {
		h   *Hold
		err error
	}
	ended := make(chan end, 2)
	for range 2 {
		go func() {
			h, err := l.Lock(t.Context(), As(o))
			ended <- end{h, err}
		}()
	}
	awaitQueued(t, l, 2)
	mustUnlock(t, held)
	first, second := <-ended, <-ended
	if first.err != nil {
		first, second = second, first
	}
	if first.err != nil || !errors.Is(second.err, ErrReentered) {
		t.Fatalf("%v, %v", first.err, second.err)
	}
	counts(t, l, o, 1)
	mustUnlock(t, first.h)
}

func TestLostRepliesOfANonReentrantLock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s, WithCommandTimeout(5*time.Second))
	l := c.NewNonReentrantLock("orders")
	mustUnlock(t, lockOf(t, l)) // connects
	var got <-chan *Hold
	o := c.NewOwner()
	breakOff(t, s, func() { got = spinning(t, l, As(o)) })
	h := <-got
	counts(t, l, o, 1)
	mustUnlock(t, h)
}
