package behaviour_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestHoldContextEndsWithItsHold(t *testing.T) {
	t.Parallel()
	r := start(t)
	ctx := t.Context()
	for behaviour, row := range map[string]struct {
		opts []rlock.AcquireOption
		end  func(c *rlock.Client, h *rlock.Hold)
		want error
	}{
		"released":     {nil, func(_ *rlock.Client, h *rlock.Hold) { r.Unlock(h) }, rlock.ErrReleased},
		"run out":      {[]rlock.AcquireOption{rlock.Lease(2 * time.Second)}, func(*rlock.Client, *rlock.Hold) {}, rlock.ErrLeaseLost},
		"found gone":   {nil, func(_ *rlock.Client, h *rlock.Hold) { r.Do("DEL", h.Name()) }, rlock.ErrLeaseLost},
		"forced":       {nil, func(c *rlock.Client, h *rlock.Hold) { _, _ = c.NewLock(h.Name()).ForceUnlock(ctx) }, rlock.ErrLeaseLost},
		"client gone":  {nil, func(c *rlock.Client, _ *rlock.Hold) { c.Close() }, rlock.ErrClosed},
		"past longest": {[]rlock.AcquireOption{rlock.MaxHold(50 * time.Millisecond)}, func(*rlock.Client, *rlock.Hold) {}, rlock.ErrLeaseLost},
	} {
		type key struct{}
		t.Run(behaviour, func(t *testing.T) {
			c := r.open(rlock.WithWatchdogTimeout(3 * time.Second))
			h := r.Lock(c.NewLock(r.name()), row.opts...)
			held, free := h.Context(context.WithValue(ctx, key{}, 1))
			defer free()
			if held.Err() != nil || held.Value(key{}) != 1 {
				t.Fatalf("%v, %v", held.Err(), held.Value(key{}))
			}
			row.end(c, h)
			testbed.Receive(r, "the context", held.Done())
			wants(t, context.Cause(held), row.want)
			wants(t, h.Err(), row.want)
			testbed.Receive(r, "Done", h.Done())
			for _, other := range []error{rlock.ErrReleased, rlock.ErrLeaseLost, rlock.ErrClosed} {
				if errors.Is(h.Err(), other) != (other == row.want) {
					t.Errorf("%v and %v", h.Err(), other)
				}
			}
			late, freeLate := h.Context(ctx)
			defer freeLate()
			wants(t, context.Cause(late), row.want)
			r.Do("DEL", h.Name())
		})
	}
	t.Run("but its cancel releases nothing", func(t *testing.T) {
		h := r.Lock(r.open().NewLock(r.name()))
		held, free := h.Context(ctx)
		free()
		wants(t, context.Cause(held), context.Canceled)
		if h.Err() != nil || r.Number("EXISTS", h.Name()) != 1 {
			t.Error(h.Err())
		}
		r.Unlock(h)
	})
	t.Run("and with its parent", func(t *testing.T) {
		h := r.Lock(r.open().NewLock(r.name()))
		why := errors.New("why")
		parent, cancel := context.WithCancelCause(ctx)
		held, free := h.Context(parent)
		defer free()
		cancel(why)
		testbed.Receive(r, "the context", held.Done())
		wants(t, context.Cause(held), why)
		if h.Err() != nil {
			t.Error(h.Err())
		}
		r.Unlock(h)
	})
	t.Run("not with the context that bounded the wait", func(t *testing.T) {
		l := r.open().NewLock(r.name())
		bounded, cancel := context.WithCancel(ctx)
		h, err := l.Lock(bounded)
		if err != nil {
			t.Fatal(err)
		}
		held, free := h.Context(ctx)
		defer free()
		cancel()
		if held.Err() != nil || h.Err() != nil {
			t.Error(held.Err(), h.Err())
		}
		if err := h.Unlock(bounded); err != nil {
			t.Errorf("an unlock with a context that is over: %v", err)
		}
		if r.Number("EXISTS", l.Name()) != 0 {
			t.Error("still locked")
		}
	})
}
