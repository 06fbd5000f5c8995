package behaviour_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestClose(t *testing.T) {
	r := start(t)
	t.Run("ends every wait with ErrClosed", func(t *testing.T) {
		r := on(t, r.Server)
		name := r.name()
		h := r.Lock(r.open().NewLock(name))
		c := r.open()
		l := c.NewLock(name)
		waits := []<-chan testbed.Entry{r.enter(l), r.enter(l), r.enter(l, rlock.As(c.NewOwner())), r.enter(l, rlock.Lease(time.Minute))}
		bounded := make(chan error, 1)
		go func() {
			_, err := l.TryLockFor(t.Context(), time.Minute)
			bounded <- err
		}()
		r.Listeners(name, 1)
		began := time.Now()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		for _, w := range waits {
			wants(t, testbed.Receive(r, "the wait's end", w).Err, rlock.ErrClosed, name)
		}
		wants(t, testbed.Receive(r, "the bounded wait's end", bounded), rlock.ErrClosed, name)
		between(t, "Close", time.Since(began), 0, 2*time.Second)
		r.Listeners(name, 0)
		r.Unlock(h)
		if n := r.Number("EXISTS", name); n != 0 {
			t.Error("a waiter that was closed took it")
		}
	})
	t.Run("leaves keys to expire and ends their holds with ErrClosed", func(t *testing.T) {
		const timeout = 3 * time.Second
		c := r.open(rlock.WithWatchdogTimeout(timeout))
		l := c.NewLock(r.name())
		h := r.Lock(l)
		ctx, cancel := h.Context(t.Context())
		defer cancel()
		c.Close()
		testbed.Receive(r, "Done", h.Done())
		wants(t, h.Err(), rlock.ErrClosed)
		testbed.Receive(r, "the derived context", ctx.Done())
		wants(t, context.Cause(ctx), rlock.ErrClosed)
		if until := h.ValidUntil(); until.After(time.Now()) {
			t.Errorf("valid for another %v", time.Until(until))
		}
		if left := r.PTTL(l.Name()); left <= 0 || left > timeout {
			t.Errorf("PTTL %v", left)
		}
		r.Becomes("it expires", func() bool { return r.Number("EXISTS", l.Name()) == 0 })
	})
	t.Run("is idempotent, also at the same time", func(t *testing.T) {
		c := r.open()
		r.Lock(c.NewLock(r.name()), rlock.Lease(time.Minute))
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := c.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("of a client that did nothing", func(t *testing.T) {
		c := r.open()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestEveryCallAfterCloseIsErrClosed(t *testing.T) {
	r, _ := own(t)
	ctx := t.Context()
	c := r.open()
	l := c.NewLock("x")
	h := r.Lock(l)
	fixed := r.Lock(c.NewLock("y"), rlock.Lease(time.Minute))
	c.Close()
	before := r.Calls()
	for call, do := range map[string]func() error{
		"Lock":        func() error { _, err := l.Lock(ctx); return err },
		"Lock as":     func() error { _, err := l.Lock(ctx, rlock.As(h.Owner())); return err },
		"TryLock":     func() error { _, err := l.TryLock(ctx); return err },
		"TryLockFor":  func() error { _, err := l.TryLockFor(ctx, time.Second); return err },
		"Do":          func() error { return l.Do(ctx, func(context.Context) error { panic("it ran") }) },
		"UnlockAs":    func() error { return l.UnlockAs(ctx, c.NewOwner()) },
		"ForceUnlock": func() error { _, err := l.ForceUnlock(ctx); return err },
		"IsLocked":    func() error { _, err := l.IsLocked(ctx); return err },
		"IsHeldBy":    func() error { _, err := l.IsHeldBy(ctx, h.Owner()); return err },
		"HoldCount":   func() error { _, err := l.HoldCount(ctx, h.Owner()); return err },
		"RemainTTL":   func() error { _, err := l.RemainTTL(ctx); return err },
		"Info":        func() error { _, err := l.Info(ctx); return err },
		"new lock":    func() error { _, err := c.NewLock("z").TryLock(ctx); return err },
		"Extend":      func() error { return fixed.Extend(ctx, time.Minute) },
		"Unlock":      func() error { return h.Unlock(ctx) },
		"Err":         func() error { return h.Err() },
	} {
		t.Run(call, func(t *testing.T) { wants(t, do(), rlock.ErrClosed) })
	}
	after := r.Calls()
	for _, command := range []string{"EVALSHA", "EXISTS", "HEXISTS", "HGET", "PTTL"} {
		if after[command] != before[command] {
			t.Errorf("sent %s", command)
		}
	}
	if r.Number("EXISTS", "x", "y") != 2 {
		t.Error("a key is gone")
	}
}
