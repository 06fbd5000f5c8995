package behaviour_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestFixedLeaseEndsOnTimeAndTells(t *testing.T) {
	t.Parallel()
	const lease = 3 * time.Second
	r := start(t)
	l := r.open(rlock.WithWatchdogTimeout(time.Minute)).NewLock(r.name())
	sent := time.Now()
	h := r.Lock(l, rlock.Lease(lease))
	granted := time.Now()
	until := h.ValidUntil()
	// Counted from the send, less 1%.
	if trusted := lease - lease/100; until.Before(sent.Add(trusted-time.Millisecond)) || until.After(granted.Add(trusted+time.Millisecond)) {
		t.Errorf("valid for %v after the send, %v after the grant", until.Sub(sent), until.Sub(granted))
	}
	ctx, cancel := h.Context(t.Context())
	defer cancel()
	for {
		asked := time.Now()
		err := h.Err()
		if err != nil {
			if early := time.Until(until); early > time.Millisecond {
				t.Errorf("told %v early: %v", early, err)
			}
			break
		}
		if late := asked.Sub(until); late > time.Millisecond {
			t.Fatalf("Err is nil %v after the end", late)
		}
	}
	testbed.Receive(r, "Done", h.Done())
	testbed.Receive(r, "the derived context", ctx.Done())
	between(t, "telling, after the end", time.Since(until), -time.Millisecond, time.Second)
	wants(t, h.Err(), rlock.ErrLeaseLost)
	wants(t, context.Cause(ctx), rlock.ErrLeaseLost)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Error(ctx.Err())
	}
	r.Becomes("the key is gone", func() bool { return r.Number("EXISTS", l.Name()) == 0 })
	between(t, "the key's life", time.Since(sent), lease, lease+time.Second)
	err := h.Unlock(t.Context())
	wants(t, err, rlock.ErrLeaseLost)
	wants(t, err, rlock.ErrNotHeld)
	wants(t, h.Unlock(t.Context()), rlock.ErrReleased)
}

func TestDoneClosesByItselfWhenALeaseEnds(t *testing.T) {
	t.Parallel()
	const lease = 2 * time.Second
	r := start(t)
	h := r.Lock(r.open().NewLock(r.name()), rlock.Lease(lease))
	until := h.ValidUntil()
	testbed.Receive(r, "Done", h.Done())
	between(t, "closing Done, after the end", time.Since(until), -time.Millisecond, time.Second)
	wants(t, h.Err(), rlock.ErrLeaseLost)
}
