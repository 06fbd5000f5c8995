package rlock

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// awaitNoAttempt waits until no attempt of c's waiters for key is in flight.
func awaitNoAttempt(t *testing.T, c *Client, key string) {
	t.Helper()
	l := c.NewLock(key)
	becomes(t, "each attempt is answered", func() bool { return !l.l.Snapshot().InFlight })
}

// At the first hand-off the server does not know the unlock script, so the unlock runs after the acquire that should
// follow it. The next waiter is refused, and must not ignore the unlock's message as already known.
func TestUnlockHandsOnWithinAClient(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.Start(t))
	l := c.NewLock("orders")
	for range 3 {
		h, err := l.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		entered := make(chan *Hold)
		go func() {
			h, err := c.NewLock("orders").Lock(t.Context())
			if err != nil {
				t.Error(err)
			}
			entered <- h
		}()
		awaitListening(t, c, "orders")
		awaitNoAttempt(t, c, "orders")
		if err := h.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case h := <-entered:
			if err := h.Unlock(t.Context()); err != nil {
				t.Fatal(err)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("the waiter did not enter")
		}
	}
}

// The hand-off's queue still exists when its last hold is released. From then on the server is silent.
func TestA6LockThatWasReleasedHereIsNotSaidToBeTaken(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	l := c.NewLock("orders")
	// release hands the lock on within the client, and then releases it.
	release := func() {
		h := lockOf(t, l)
		entered := make(chan *Hold, 1)
		go func() {
			h, err := l.Lock(context.Background())
			if err != nil {
				t.Error(err)
			}
			entered <- h
		}()
		awaitListening(t, c, "orders")
		awaitNoAttempt(t, c, "orders")
		mustUnlock(t, h)
		mustUnlock(t, <-entered)
	}
	for range 5 {
		release()
		// No reply can arrive that early.
		if h, err := l.TryLockFor(t.Context(), 1); errors.Is(err, ErrLocked) {
			t.Errorf("a server that answers: %v", err)
		} else if err == nil {
			mustUnlock(t, h)
		}
	}
	release()
	s.Pause()
	_, err := l.TryLockFor(t.Context(), 200*time.Millisecond)
	s.Resume()
	if errors.Is(err, ErrLocked) || !errors.Is(err, ErrUncertain) {
		t.Errorf("a server that stands still: %v", err)
	}
}
