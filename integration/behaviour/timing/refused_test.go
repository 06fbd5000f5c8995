package timing

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// refuses has the server refuse a hold's unlock until the call ends: it can't save.
func (s *server) refuses(t *testing.T, h *rlock.Hold) {
	t.Helper()
	s.Change(func(m *simredis.Server) {
		m.Refuse = func(args []string) string {
			if args[0] == "EVALSHA" || args[0] == "EVAL" {
				return "MISCONF Errors writing to the AOF file: No space left on device"
			}
			return ""
		}
	})
	err := h.Unlock(t.Context())
	if err == nil || errors.Is(err, rlock.ErrUncertain) || !strings.Contains(err.Error(), "not released so far, it goes on in the background while the lease lasts: MISCONF") {
		t.Errorf("it never ran, and it says %v", err)
	}
	s.Change(func(m *simredis.Server) { m.Refuse = nil })
}

// The server refuses the unlock of one hold of several, and goes on to count that hold. The key must be free after the
// last unlock, without waiting for a lease.
func TestUnlockThatNeverRanIsMadeUpForByTheNext(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		c := open(t, s, rlock.WithWatchdogTimeout(10*time.Minute))
		l, o := c.NewLock("orders"), c.NewOwner()
		outer, inner := lockOf(t, l, rlock.As(o)), lockOf(t, l, rlock.As(o))
		s.refuses(t, inner)
		mustUnlock(t, outer)
		becomes(t, "it is free", func() bool { return s.rig.Free("orders") })
	})
}

// The server loses what the refused unlock has left. What its owner acquires later is not released for it.
func TestUnlockThatNeverRanIsForgottenWithItsHold(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		c := open(t, s)
		rw, o := c.NewReadWriteLock("rw"), c.NewOwner()
		write := lockOf(t, rw.WriteLock(), rlock.As(o))
		outer, inner := lockOf(t, rw.ReadLock(), rlock.As(o)), lockOf(t, rw.ReadLock(), rlock.As(o))
		s.refuses(t, inner)
		s.rig.Do("HDEL", "rw", o.String())
		if err := outer.Unlock(t.Context()); !errors.Is(err, rlock.ErrNotHeld) {
			t.Fatal(err)
		}
		later := lockOf(t, rw.ReadLock(), rlock.As(o))
		mustUnlock(t, write)
		mustUnlock(t, later)
	})
}

// Calls wait for a master that has too few replicas for now, as they wait for one that is loading.
func TestTooFewReplicasAreWaitedOut(t *testing.T) {
	const timeout = time.Second
	of := func(l func(c *rlock.Client) *rlock.Lock, opts ...rlock.AcquireOption) func(ctx context.Context, c *rlock.Client) error {
		return func(ctx context.Context, c *rlock.Client) error {
			return l(c).Do(ctx, func(context.Context) error { return nil }, opts...)
		}
	}
	plain := func(c *rlock.Client) *rlock.Lock { return c.NewLock("plain") }
	for name, call := range map[string]func(ctx context.Context, c *rlock.Client) error{
		"plain": of(plain), "within": of(plain, rlock.Wait(time.Minute)), "once": of(plain, rlock.Wait(0)),
		"as":   func(ctx context.Context, c *rlock.Client) error { return of(plain, rlock.As(c.NewOwner()))(ctx, c) },
		"fair": of(func(c *rlock.Client) *rlock.Lock { return c.NewFairLock("fair") }),
		"read": of(func(c *rlock.Client) *rlock.Lock { return c.NewReadWriteLock("rw").ReadLock() }),
		"sem": func(ctx context.Context, c *rlock.Client) error {
			return c.NewSemaphore("room").Do(ctx, 1, func(context.Context) error { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, s *server) {
				c := open(t, s, rlock.WithCommandTimeout(timeout))
				if _, err := c.NewSemaphore("room").TrySetPermits(t.Context(), 10); err != nil {
					t.Fatal(err)
				}
				few := func(few bool) {
					s.Change(func(m *simredis.Server) {
						m.Refuse = func(args []string) string {
							if few && args[0] == "EVALSHA" {
								return "NOREPLICAS Not enough good replicas to write."
							}
							return ""
						}
					})
				}
				few(true)
				began := time.Now()
				err := call(t.Context(), c)
				if took := time.Since(began); !errors.Is(err, rlock.ErrUnavailable) || errors.Is(err, rlock.ErrRefused) || took < timeout {
					t.Errorf("%v after %v", err, took)
				}
				time.AfterFunc(timeout/2, func() { few(false) })
				if err := call(t.Context(), c); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
