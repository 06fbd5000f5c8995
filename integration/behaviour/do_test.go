package behaviour_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestDoReleases(t *testing.T) {
	r := start(t)
	c := r.open()
	ctx := t.Context()
	broken := errors.New("broken")
	free := func(t *testing.T, l *rlock.Lock) {
		t.Helper()
		if locked, err := l.IsLocked(ctx); locked || err != nil {
			t.Errorf("locked %v, %v", locked, err)
		}
	}
	t.Run("when fn succeeds", func(t *testing.T) {
		l := c.NewLock(r.name())
		ran := false
		err := l.Do(ctx, func(held context.Context) error {
			ran = held.Err() == nil && r.Number("EXISTS", l.Name()) == 1
			return nil
		})
		if !ran || err != nil {
			t.Errorf("ran %v, %v", ran, err)
		}
		free(t, l)
	})
	t.Run("when fn fails, and returns its error", func(t *testing.T) {
		l := c.NewLock(r.name())
		wants(t, l.Do(ctx, func(context.Context) error { return broken }), broken)
		free(t, l)
	})
	t.Run("when fn panics, and passes that on", func(t *testing.T) {
		l := c.NewLock(r.name())
		func() {
			defer func() {
				if p := recover(); p != broken {
					t.Errorf("recovered %v", p)
				}
			}()
			_ = l.Do(ctx, func(context.Context) error { panic(broken) })
		}()
		free(t, l)
	})
	t.Run("when fn ends its goroutine", func(t *testing.T) {
		l := c.NewLock(r.name())
		returned := true
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			returned = false
			_ = l.Do(ctx, func(context.Context) error { runtime.Goexit(); return nil })
			returned = true
		}()
		testbed.Receive(r, "the goroutine", ended)
		if returned {
			t.Error("Do returned")
		}
		free(t, l)
	})
	t.Run("when its context ended meanwhile", func(t *testing.T) {
		l := c.NewLock(r.name())
		ending, cancel := context.WithCancel(ctx)
		err := l.Do(ending, func(held context.Context) error {
			cancel()
			<-held.Done()
			return context.Cause(held)
		})
		wants(t, err, context.Canceled)
		if errors.Is(err, rlock.ErrLeaseLost) {
			t.Error(err)
		}
		free(t, l)
	})
	t.Run("and does not run fn if it could not acquire", func(t *testing.T) {
		l := c.NewLock(r.name())
		h := r.Lock(l)
		bounded, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		wants(t, l.Do(bounded, func(context.Context) error { t.Error("it ran"); return broken }), context.DeadlineExceeded)
		r.Unlock(h)
	})
	t.Run("one of two holds when it re-enters", func(t *testing.T) {
		l := c.NewLock(r.name())
		h := r.Lock(l)
		err := l.Do(ctx, func(context.Context) error {
			if n := r.Number("HGET", l.Name(), h.Owner()); n != 2 {
				t.Errorf("count %d", n)
			}
			return nil
		}, rlock.As(h.Owner()))
		if err != nil {
			t.Error(err)
		}
		if n := r.Number("HGET", l.Name(), h.Owner()); n != 1 {
			t.Errorf("count %d", n)
		}
		r.Unlock(h)
	})
}

func TestDoTellsOfALostLease(t *testing.T) {
	t.Parallel()
	r := start(t)
	c := r.open(rlock.WithWatchdogTimeout(3 * time.Second))
	broken := errors.New("broken")
	for behaviour, row := range map[string]struct {
		opts []rlock.AcquireOption
		lose func(l *rlock.Lock)
	}{
		"that ran out":        {[]rlock.AcquireOption{rlock.Lease(2 * time.Second)}, func(*rlock.Lock) {}},
		"that was deleted":    {nil, func(l *rlock.Lock) { r.Do("DEL", l.Name()) }},
		"that was forced":     {nil, func(l *rlock.Lock) { _, _ = l.ForceUnlock(r.Context()) }},
		"past its longest":    {[]rlock.AcquireOption{rlock.MaxHold(100 * time.Millisecond)}, func(*rlock.Lock) {}},
		"taken by a stranger": {nil, func(l *rlock.Lock) { r.Do("DEL", l.Name()); r.Do("HSET", l.Name(), c.NewOwner(), 1) }},
	} {
		t.Run(behaviour, func(t *testing.T) {
			l := c.NewLock(r.name())
			defer r.Do("DEL", l.Name())
			err := l.Do(t.Context(), func(held context.Context) error {
				row.lose(l)
				testbed.Receive(r, "fn's context", held.Done())
				wants(t, context.Cause(held), rlock.ErrLeaseLost)
				return broken
			}, row.opts...)
			wants(t, err, broken)
			wants(t, err, rlock.ErrLeaseLost)
			wants(t, err, rlock.ErrNotHeld, l.Name())
		})
	}
	t.Run("but not of one that fn did not outlive", func(t *testing.T) {
		l := c.NewLock(r.name())
		if err := l.Do(t.Context(), func(context.Context) error { return nil }, rlock.Lease(time.Minute)); err != nil {
			t.Error(err)
		}
	})
}
