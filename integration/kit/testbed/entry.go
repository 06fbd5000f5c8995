package testbed

import (
	"context"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// Entry is the result of an acquire, and when it returned.
type Entry struct {
	Hold *rlock.Hold // nil if the call failed
	Err  error       // the call's
	At   time.Time   // when the call returned
}

// Enter waits for a lock in a new goroutine.
func Enter(ctx context.Context, l *rlock.Lock, opts ...rlock.AcquireOption) <-chan Entry {
	return Acquire(func() (*rlock.Hold, error) { return l.Lock(ctx, opts...) })
}

// Acquire makes an acquiring call in a new goroutine.
func Acquire(call func() (*rlock.Hold, error)) <-chan Entry {
	ended := make(chan Entry, 1)
	go func() {
		h, err := call()
		ended <- Entry{h, err, time.Now()}
	}()
	return ended
}

// Entered waits for the end of an acquire that must succeed.
func Entered(t testing.TB, waiter <-chan Entry) Entry {
	t.Helper()
	e := Receive(t, "the acquire to return", waiter)
	if e.Err != nil {
		t.Fatal(e.Err)
	}
	return e
}

// Entered waits for the end of an acquire that must succeed.
func (r *Rig) Entered(waiter <-chan Entry) Entry {
	r.Helper()
	return Entered(r.T, waiter)
}
