package rlock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// open opens a client that gives a busy server as long to answer as promptly does.
func (g *splitRig) open() *rlock.Client {
	return openCluster(g.T, g.s, rlock.WithCommandTimeout(soonEnough))
}

// promptly runs a call that must not wait for the end of a migration, which never comes.
func (g *splitRig) promptly(what string, call func(ctx context.Context) error) {
	g.Helper()
	ctx, cancel := context.WithTimeout(g.Context(), soonEnough)
	defer cancel()
	if err := call(ctx); err != nil {
		g.Fatalf("%s: %v", what, err)
	}
}

// The slot is half moved for as long as the test lasts. What needs only keys that have moved, or none, is done on the slot's next
// server.
func TestObjectsThatHaveMovedAreUsedWhileTheirSlotIsOpen(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	for what, play := range map[string]func(g *splitRig, name string, a, b *rlock.Client){
		"semaphore": func(g *splitRig, name string, a, b *rlock.Client) {
			s, other := a.NewSemaphore(name), b.NewSemaphore(name)
			g.promptly("set", func(ctx context.Context) error { _, err := s.TrySetPermits(ctx, 3); return err })
			g.promptly("take", func(ctx context.Context) error { return errors.Join(s.Acquire(ctx, 1), s.Acquire(ctx, 1)) })
			g.begin(0)
			for g.s.MoveKeys(g.slot, 0, 1, 100) > 0 {
			}
			entered := make(chan error, 1)
			go func() { entered <- other.Acquire(g.Context(), 2) }()
			g.promptly("give", func(ctx context.Context) error { return s.Release(ctx, 1) })
			g.promptly("wait", func(ctx context.Context) error {
				select {
				case err := <-entered:
					return err
				case <-ctx.Done():
					return ctx.Err()
				}
			})
			g.promptly("give", func(ctx context.Context) error { return s.Release(ctx, 3) })
			g.promptly("take", func(ctx context.Context) error { return s.TryAcquire(ctx, 1) })
			g.promptly("count", func(ctx context.Context) error {
				if n, err := s.Available(ctx); n != 2 || err != nil {
					g.Errorf("%d are free, %v; want 2", n, err)
				}
				return nil
			})
		},
		"semaphore that has not moved": func(g *splitRig, name string, a, b *rlock.Client) {
			s, other := a.NewSemaphore(name), b.NewSemaphore(name)
			g.promptly("set", func(ctx context.Context) error { _, err := s.TrySetPermits(ctx, 3); return err })
			g.begin(0)
			entered := make(chan error, 1)
			g.promptly("take", func(ctx context.Context) error { return errors.Join(s.Acquire(ctx, 1), s.Acquire(ctx, 1)) })
			go func() { entered <- other.Acquire(g.Context(), 2) }()
			g.promptly("give", func(ctx context.Context) error { return s.Release(ctx, 1) })
			g.promptly("wait", func(ctx context.Context) error {
				select {
				case err := <-entered:
					return err
				case <-ctx.Done():
					return ctx.Err()
				}
			})
			g.promptly("add", func(ctx context.Context) error { return s.AddPermits(ctx, 2) })
			g.promptly("drain", func(ctx context.Context) error {
				if n, err := s.Drain(ctx); n != 2 || err != nil {
					g.Errorf("%d, %v", n, err)
				}
				return nil
			})
			g.promptly("again", func(ctx context.Context) error { _, err := s.ReleaseIfExists(ctx, 4); return err })
			for range 100 {
				g.promptly("do", func(ctx context.Context) error { return s.Do(ctx, 1, func(context.Context) error { return nil }) })
			}
			becomes(g.T, "no receipt is left", func() bool {
				for i := range 2 {
					keys, err := redis.Strings(g.s.Conn(i).Do("KEYS", "redisson_unlock_latch:*#*"))
					if err != nil || len(keys) > 0 {
						return false
					}
				}
				return true
			})
		},
		"latch that has not moved": func(g *splitRig, name string, a, b *rlock.Client) {
			l := a.NewCountDownLatch(strings.Trim(g.tag, "{}"))
			g.promptly("set", func(ctx context.Context) error { _, err := l.TrySetCount(ctx, 3); return err })
			g.begin(0)
			for range 3 {
				g.promptly("down", l.CountDown)
			}
			g.promptly("await", l.Await)
		},
		"Java's objects that have not moved": func(g *splitRig, name string, a, b *rlock.Client) {
			latch := strings.Trim(g.tag, "{}")
			for _, key := range []string{latch, name} {
				if _, err := g.s.Conn(0).Do("SET", key, 1); err != nil {
					g.Fatal(err)
				}
			}
			g.begin(0)
			g.promptly("down", a.NewCountDownLatch(latch).CountDown)
			g.promptly("await", a.NewCountDownLatch(latch).Await)
			g.promptly("give", func(ctx context.Context) error { return a.NewSemaphore(name).Release(ctx, 1) })
			g.promptly("take", func(ctx context.Context) error { return a.NewSemaphore(name).TryAcquire(ctx, 2) })
			g.promptly("delete", func(ctx context.Context) error {
				if gone, err := a.NewSemaphore(name).Delete(ctx); !gone || err != nil {
					g.Errorf("%v, %v", gone, err)
				}
				return nil
			})
		},
		"new semaphore": func(g *splitRig, name string, a, _ *rlock.Client) {
			s := a.NewSemaphore(name)
			g.begin(0)
			g.promptly("set", func(ctx context.Context) error { _, err := s.TrySetPermits(ctx, 1); return err })
			g.promptly("do", func(ctx context.Context) error { return s.Do(ctx, 1, func(context.Context) error { return nil }) })
			g.promptly("add", func(ctx context.Context) error { return s.AddPermits(ctx, 1) })
			g.promptly("drain", func(ctx context.Context) error {
				if n, err := s.Drain(ctx); n != 2 || err != nil {
					g.Errorf("%d, %v", n, err)
				}
				return nil
			})
			g.promptly("delete", func(ctx context.Context) error { _, err := s.Delete(ctx); return err })
		},
		"permits": func(g *splitRig, name string, a, b *rlock.Client) {
			s := a.NewPermitSemaphore(name)
			g.promptly("set", func(ctx context.Context) error { _, err := s.TrySetPermits(ctx, 3); return err })
			g.begin(0)
			for g.s.MoveKeys(g.slot, 0, 1, 100) > 0 {
			}
			for range 2 { // nobody has any at first
				g.promptly("take and give", func(ctx context.Context) error {
					p, err := s.Acquire(ctx, 3)
					if err != nil {
						return err
					}
					if _, err := b.NewPermitSemaphore(name).TryAcquire(ctx, 1); !errors.Is(err, rlock.ErrNoPermits) {
						g.Errorf("%v", err)
					}
					return p.Release(ctx)
				})
			}
		},
		"latch": func(g *splitRig, _ string, a, b *rlock.Client) {
			name := strings.Trim(g.tag, "{}")
			l := a.NewCountDownLatch(name)
			g.promptly("set", func(ctx context.Context) error { _, err := l.TrySetCount(ctx, 3); return err })
			g.begin(0)
			for g.s.MoveKeys(g.slot, 0, 1, 100) > 0 {
			}
			opened := make(chan error, 1)
			go func() { opened <- b.NewCountDownLatch(name).Await(g.Context()) }()
			for range 3 {
				g.promptly("down", l.CountDown)
			}
			g.promptly("wait", func(ctx context.Context) error {
				select {
				case err := <-opened:
					return err
				case <-ctx.Done():
					return ctx.Err()
				}
			})
			g.promptly("set", func(ctx context.Context) error { _, err := l.TrySetCount(ctx, 3); return err })
		},
	} {
		beside.Run(t, what, func(t *testing.T) {
			g := startSplit(t)
			began := time.Now()
			play(g, g.tag+what, g.open(), g.open())
			t.Logf("%v, %d times TRYAGAIN", time.Since(began), g.tryAgain())
			g.settle()
		})
	}
}

// New readers come in while the slot is half moved, if the lock has moved or is free. Those that read already are not needed for it.
func TestReadersEnterWhileTheirSlotIsOpen(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	for what, row := range map[string]struct {
		tagged, read bool
	}{
		"a free lock":                         {false, false},
		"a free lock with a tag":              {true, false},
		"a lock that is read":                 {false, true},
		"a lock that is read, and with a tag": {true, true},
	} {
		beside.Run(t, what, func(t *testing.T) {
			g := startSplit(t)
			name := strings.Trim(g.tag, "{}")
			if row.tagged {
				name = g.tag + "doc"
			}
			c := g.open()
			var holds []*rlock.Hold
			if row.read {
				holds = append(holds, held(t, c.NewReadWriteLock(name).ReadLock()))
			}
			g.begin(0)
			for g.s.MoveKeys(g.slot, 0, 1, 100) > 0 {
			}
			for range 10 {
				g.promptly("read", func(ctx context.Context) error {
					h, err := c.NewReadWriteLock(name).ReadLock().TryLock(ctx)
					holds = append(holds, h)
					return err
				})
			}
			g.promptly("nobody writes", func(ctx context.Context) error {
				if _, err := c.NewReadWriteLock(name).WriteLock().TryLock(ctx); !errors.Is(err, rlock.ErrLocked) {
					g.Errorf("%v", err)
				}
				return nil
			})
			for _, h := range holds[len(holds)/2:] {
				g.promptly("leave", h.Unlock)
			}
			g.settle()
			for _, h := range holds[:len(holds)/2] {
				if err := h.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if g.there(name) {
				t.Error("it is there")
			}
		})
	}
}

// The server that the slot leaves has the lock, and can't make the key of another hold. The reader's client makes it on the slot's
// other server, and the reader enters, stays and leaves as if the slot were whole.
func TestReaderEntersThoughTheLockHasNotMoved(t *testing.T) {
	t.Parallel()
	g := startSplit(t)
	rw := g.open().NewReadWriteLock(g.tag + "doc")
	first := held(t, rw.ReadLock())
	g.begin(0)
	var next *rlock.Hold
	g.promptly("read", func(ctx context.Context) (err error) {
		next, err = rw.ReadLock().Lock(ctx)
		return err
	})
	if n, err := redis.Int(g.s.Conn(0).Do("HLEN", g.tag+"doc")); n != 3 || err != nil {
		t.Errorf("the lock has %d fields, %v", n, err)
	}
	if n, err := redis.Int(g.s.Conn(1).Do("DBSIZE")); n != 1 || err != nil {
		t.Errorf("the other server has %d keys, %v", n, err)
	}
	g.promptly("leave", first.Unlock)
	g.promptly("nobody writes", func(ctx context.Context) error {
		if _, err := rw.WriteLock().TryLock(ctx); !errors.Is(err, rlock.ErrLocked) {
			g.Errorf("%v", err)
		}
		return nil
	})
	g.promptly("leave", next.Unlock)
	g.promptly("write", func(ctx context.Context) error {
		h, err := rw.WriteLock().TryLock(ctx)
		if err == nil {
			err = h.Unlock(ctx)
		}
		return err
	})
	g.settle()
	if g.there(g.tag + "doc") {
		t.Error("the lock is there")
	}
}
