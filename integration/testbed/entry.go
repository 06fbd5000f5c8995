package testbed

import (
	"context"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// Entry is how a wait for a lock ended, and when.
type Entry struct {
	Hold *rlock.Hold // nil with an error
	Err  error       // the call's
	At   time.Time   // when the call returned
}

// Enter waits for a lock on a goroutine of its own.
func Enter(ctx context.Context, l *rlock.Lock, opts ...rlock.AcquireOption) <-chan Entry {
	ended := make(chan Entry, 1)
	go func() {
		h, err := l.Lock(ctx, opts...)
		ended <- Entry{h, err, time.Now()}
	}()
	return ended
}

// Entered waits for the end of a wait that must succeed.
func (r *Rig) Entered(waiter <-chan Entry) Entry {
	r.Helper()
	e := Receive(r.T, "the waiter to enter", waiter)
	if e.Err != nil {
		r.Fatal(e.Err)
	}
	return e
}

// Receive waits for a value that must come.
func Receive[T any](t testing.TB, what string, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(Patience):
		t.Fatalf("waited %v for %s", Patience, what)
		panic("unreachable")
	}
}
