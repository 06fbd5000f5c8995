package behaviour_test

import (
	"context"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// shutDown begins a Shutdown and returns once it refuses new owners.
func (r *rig) shutDown(ctx context.Context, c *rlock.Client) <-chan error {
	r.Helper()
	ended := testbed.Begun(func() error { return c.Shutdown(ctx) })
	probe := c.NewLock(r.name())
	r.Becomes("new owners are refused", func() bool {
		h, err := probe.TryLock(r.Context())
		if err == nil {
			r.Unlock(h)
		}
		return err != nil
	})
	return ended
}

func TestShutdownServesLivingOwnersToTheEnd(t *testing.T) {
	t.Parallel()
	const timeout = 4 * time.Second
	r := start(t)
	c := r.open(rlock.WithWatchdogTimeout(timeout))
	l, other := c.NewLock(r.name()), c.NewLock(r.name())
	held, alsoHeld := r.Lock(l), r.Lock(other)
	waiter := r.enter(l)
	r.Listeners(l.Name(), 1)

	ended := r.shutDown(t.Context(), c)
	wants(t, testbed.Receive(r, "the waiter's end", waiter).Err, rlock.ErrClosed, l.Name())
	_, err := l.TryLock(t.Context())
	wants(t, err, rlock.ErrClosed)
	_, err = l.Lock(t.Context(), rlock.As(c.NewOwner()))
	wants(t, err, rlock.ErrClosed)
	_, err = other.TryLock(t.Context(), rlock.As(held.Owner()))
	wants(t, err, rlock.ErrClosed) // this owner holds l, not other

	inner := r.Lock(l, rlock.As(held.Owner()))
	if n, err := l.HoldCount(t.Context(), held.Owner()); n != 2 || err != nil {
		t.Errorf("count %d, %v", n, err)
	}
	// Renewals go on during Shutdown.
	stood := held.ValidUntil()
	r.Becomes("a renewal", func() bool { return held.ValidUntil().After(stood.Add(timeout / 10)) })
	r.Unlock(inner)
	r.Unlock(held)
	select {
	case err := <-ended:
		t.Fatalf("ended with a hold left: %v", err)
	default:
	}
	r.Unlock(alsoHeld)
	if err := testbed.Receive(r, "Shutdown", ended); err != nil {
		t.Error(err)
	}
	_, err = l.IsLocked(t.Context())
	wants(t, err, rlock.ErrClosed)
	if r.Number("EXISTS", l.Name(), other.Name()) != 0 {
		t.Error("a key is left")
	}
}

func TestShutdownEndsWhenTheLastLeaseIsLost(t *testing.T) {
	t.Parallel()
	r := start(t)
	c := r.open()
	r.Lock(c.NewLock(r.name()), rlock.Lease(2*time.Second))
	began := time.Now()
	if err := c.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	notBefore(t, "Shutdown", time.Since(began), 1500*time.Millisecond)
}
