package rlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// No server has all keys of an acquire with several. Its waiters wait until the slot has settled, however long that
// takes.
func TestWaitsGoOnUntilTheSlotHasSettled(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	const timeout = 5 * time.Second
	type acquire func(ctx context.Context) (release func(context.Context) error, err error)
	of := func(l *rlock.Lock) acquire {
		return func(ctx context.Context) (func(context.Context) error, error) {
			h, err := l.Lock(ctx)
			if err != nil {
				return nil, err
			}
			return h.Unlock, nil
		}
	}
	for kind, row := range map[string]struct {
		set     func(t *testing.T, c *rlock.Client, name string) error // creates the keys that exist before the acquire
		acquire func(c *rlock.Client, name string) acquire
	}{
		"fenced": {func(t *testing.T, c *rlock.Client, name string) error { // its number stays behind
			return c.NewFencedLock(name).Do(t.Context(), func(context.Context) error { return nil })
		}, func(c *rlock.Client, name string) acquire { return of(c.NewFencedLock(name)) }},
		"permits": {func(t *testing.T, c *rlock.Client, name string) error {
			_, err := c.NewPermitSemaphore(name).TrySetPermits(t.Context(), 2)
			return err
		}, func(c *rlock.Client, name string) acquire {
			return func(ctx context.Context) (func(context.Context) error, error) {
				p, err := c.NewPermitSemaphore(name).Acquire(ctx, 1)
				if err != nil {
					return nil, err
				}
				return p.Release, nil
			}
		}},
	} {
		beside.Run(t, kind, func(t *testing.T) {
			g := startSplit(t)
			c := openCluster(t, g.s, rlock.WithCommandTimeout(timeout), rlock.WithWatchdogTimeout(10*time.Minute))
			held(t, c.NewLock(nameOn(1))) // connects to both servers: that may take as long as a command
			if row.set != nil {
				if err := row.set(t, c, g.tag); err != nil {
					t.Fatal(err)
				}
			}
			g.begin(0)
			call := row.acquire(c, g.tag)
			ended := make(chan error, 2)
			for range 2 { // the second waits behind the first
				go func() {
					release, err := call(t.Context())
					if err == nil {
						err = release(t.Context())
					}
					ended <- err
				}()
			}
			select {
			case err := <-ended:
				t.Fatalf("it does not wait: %v", err)
			case <-time.After(2*timeout + timeout/2):
			}
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			_, err := call(ctx)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("its context has ended: %v", err)
			}
			g.settle()
			for range 2 {
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// No server has all keys of the re-entry, so it waits. Meanwhile the hold that it re-enters must be renewed.
func TestHoldIsRenewedWhileAReentryWaitsForItsSlot(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	for kind, row := range map[string]struct {
		lock  func(c *rlock.Client, name string) *rlock.Lock
		moved int
	}{
		"read":   {func(c *rlock.Client, name string) *rlock.Lock { return c.NewReadWriteLock(name).ReadLock() }, 0},
		"fenced": {(*rlock.Client).NewFencedLock, 1},
	} {
		beside.Run(t, kind, func(t *testing.T) {
			g := startSplit(t)
			l := row.lock(openCluster(t, g.s, rlock.WithWatchdogTimeout(4500*time.Millisecond)), g.tag)
			outer := held(t, l)
			g.begin(row.moved)
			entered := make(chan error, 1)
			go func() {
				inner, err := l.Lock(t.Context(), rlock.As(outer.Owner()))
				if err == nil {
					err = inner.Unlock(t.Context())
				}
				entered <- err
			}()
			becomes(t, "it was answered TRYAGAIN more than once", func() bool { return g.tryAgain() > 2 })
			renewed(t, outer)
			g.settle()
			if err := <-entered; err != nil {
				t.Error(err)
			}
			if err := outer.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// The only place in the queue has expired, so the script deletes the keys that the new place would be in. It may not make
// them again: now they belong to the other server. The undo needs all keys too, and the waiter outlasts it.
func TestAcquireThatMeetsAKeyElsewhereIsTriedAgain(t *testing.T) {
	t.Parallel()
	const timeout = 5 * time.Second
	g := startSplit(t)
	conn := g.s.Conn(0)
	for _, args := range [][]any{{"HSET", g.tag, "somebody", 1}, {"RPUSH", codec.FairQueue(g.tag), "dead"}, {"ZADD", codec.FairTimes(g.tag), 1, "dead"}} {
		if _, err := conn.Do(args[0].(string), args[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	g.begin(0)
	entered := make(chan error, 1)
	l := openCluster(t, g.s, rlock.WithCommandTimeout(timeout)).NewFairLock(g.tag)
	go func() {
		h, err := l.Lock(t.Context())
		if err == nil {
			err = h.Unlock(t.Context())
		}
		entered <- err
	}()
	becomes(t, "it meets that key", func() bool { return !g.there(codec.FairQueue(g.tag)) })
	select {
	case err := <-entered:
		t.Fatalf("it does not wait: %v", err)
	case <-time.After(3 * timeout):
	}
	g.settle()
	if _, err := g.s.Conn(1).Do("DEL", g.tag); err != nil {
		t.Fatal(err)
	}
	if err := <-entered; err != nil {
		t.Error(err)
	}
}

// All permits that were taken have expired, so the script deletes the key that it would add its ids to.
func TestPermitsAreExactThoughAnAcquireMeetsAKeyElsewhere(t *testing.T) {
	t.Parallel()
	g := startSplit(t)
	s := openCluster(t, g.s).NewPermitSemaphore(g.tag)
	if _, err := s.TrySetPermits(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	conn := g.s.Conn(0)
	for _, args := range [][]any{{"SET", g.tag, 0}, {"ZADD", codec.PermitTimes(g.tag), 1, "0123456789abcde1", 1, "0123456789abcde2"}} {
		if _, err := conn.Do(args[0].(string), args[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	g.begin(0)
	taken := make(chan error, 1)
	go func() {
		p, err := s.Acquire(t.Context(), 2)
		if err == nil {
			err = p.Release(t.Context())
		}
		taken <- err
	}()
	becomes(t, "it meets that key", func() bool { return !g.there(codec.PermitTimes(g.tag)) })
	g.settle()
	select {
	case err := <-taken:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(soonEnough):
		t.Error("both are free, and nobody gets them")
	}
	if n, err := s.Available(t.Context()); n != 2 || err != nil {
		t.Errorf("%d are free: %v", n, err)
	}
}
