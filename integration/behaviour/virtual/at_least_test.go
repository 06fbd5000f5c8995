package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// exclusive returns a client's exclusive locks of a name, by their kinds.
func exclusive(c *rlock.Client, name string) map[string]*rlock.Lock {
	return map[string]*rlock.Lock{
		"plain": c.NewLock(name), "fair": c.NewFairLock(name), "fenced": c.NewFencedLock(name), "spin": c.NewSpinLock(name), "non-reentrant": c.NewNonReentrantLock(name),
	}
}

// Nobody enters before the end, not even the owner. Those who wait in either client enter then.
func TestReleaseLeavesTheLockForTheRestOfAtLeast(t *testing.T) {
	const keeps = 4 * time.Second
	ctx := context.Background()
	for _, kind := range []string{"plain", "fair", "fenced", "spin", "non-reentrant"} {
		t.Run(kind, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				l, other := exclusive(r.open(), "orders")[kind], exclusive(r.open(), "orders")[kind]
				began := time.Now()
				h := must(l.TryLock(ctx, rlock.AtLeast(keeps)))(r)
				entered := make(chan time.Duration, 2)
				for _, l := range []*rlock.Lock{l, other} {
					go func() {
						must(0, l.Do(ctx, func(context.Context) error { entered <- since(began); return nil }))(r)
					}()
				}
				r.pass(time.Second)
				if left := must(l.RemainTTL(ctx))(r); left < 28*time.Second {
					t.Errorf("while it is held it lives for %v", left)
				}
				must(0, h.Unlock(ctx))(r)
				if left := must(l.RemainTTL(ctx))(r); left > keeps-time.Second || !errors.Is(h.Err(), rlock.ErrReleased) {
					t.Errorf("it lives for %v; the hold: %v", left, h.Err())
				}
				if must(l.IsHeldBy(ctx, h.Owner()))(r) {
					t.Error("held by its owner")
				}
				if _, err := l.TryLock(ctx, rlock.As(h.Owner())); !errors.Is(err, rlock.ErrLocked) {
					t.Errorf("its owner enters again: %v", err)
				}
				if err := h.Unlock(ctx); !errors.Is(err, rlock.ErrReleased) {
					t.Errorf("unlocked twice: %v", err)
				}
				for range 2 {
					if after := <-entered; after < keeps || after > keeps+500*time.Millisecond {
						t.Errorf("a waiter came after %v, want %v", after, keeps)
					}
				}
				r.pass(time.Second)
				r.at(func() {
					if r.server.Exists("orders") {
						t.Error("the key is left")
					}
				})
			})
		})
	}
}

func TestReleaseAfterAtLeastFreesTheLock(t *testing.T) {
	inBubble(t, func(r *rig) {
		c := r.open()
		for _, kind := range []string{"plain", "fair", "fenced", "spin", "non-reentrant"} {
			h := must(exclusive(c, kind)[kind].TryLock(context.Background(), rlock.AtLeast(time.Second)))(r)
			r.pass(time.Second)
			must(0, h.Unlock(context.Background()))(r)
			r.at(func() {
				if r.server.Exists(kind) {
					t.Errorf("%s: the key is left", kind)
				}
			})
		}
	})
}

// A lock is free when the lease of its dead process ends. If the process released it before, AtLeast still counts.
func TestAtLeastOfAProcessThatIsKilled(t *testing.T) {
	const keeps, lease = 10 * time.Second, 2 * time.Second
	for released, want := range map[bool]time.Duration{false: lease, true: keeps} {
		t.Run(fmt.Sprint("released ", released), func(t *testing.T) {
			inBubble(t, func(r *rig) {
				ctx := context.Background()
				c, other := r.open(rlock.WithWatchdogTimeout(lease)), r.open()
				h := must(c.NewLock("job").TryLock(ctx, rlock.AtLeast(keeps)))(r)
				if released {
					must(0, h.Unlock(ctx))(r)
				}
				r.at(func() { r.world.Block(host(1), address, true) })
				began := time.Now()
				must(other.NewLock("job").Lock(ctx))(r)
				if took := since(began); took < want-100*time.Millisecond || took > want+100*time.Millisecond {
					t.Errorf("it was free after %v, want %v", took, want)
				}
				r.at(func() { r.world.Block(host(1), address, false) })
			})
		})
	}
}

// Whatever else of the owner ends in its client, a lock of any kind that it can enter again stays taken until the latest end that
// AtLeast asked for, and not for much longer.
func TestWhateverEndsBesideItLeavesTheLockTakenForAtLeast(t *testing.T) {
	const atLeast, watchdog = 9 * time.Second, 3 * time.Second
	ctx := context.Background()
	type ends func(r *rig, c *rlock.Client, l *rlock.Lock)
	var kind string
	hold := func(r *rig, l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
		return must(l.TryLock(ctx, opts...))(r)
	}
	unlock := func(r *rig, h *rlock.Hold) {
		r.Helper()
		if err := h.Unlock(ctx); err != nil {
			r.Error(err)
		}
	}
	for what, test := range map[string]ends{
		"a nested lease": func(r *rig, _ *rlock.Client, l *rlock.Lock) {
			h := hold(r, l, rlock.AtLeast(atLeast))
			hold(r, l, rlock.As(h.Owner()), rlock.Lease(time.Second))
			unlock(r, h)
		},
		"a nested lease that is unlocked after its end": func(r *rig, _ *rlock.Client, l *rlock.Lock) {
			h := hold(r, l, rlock.AtLeast(atLeast))
			nested := hold(r, l, rlock.As(h.Owner()), rlock.Lease(time.Second))
			unlock(r, h)
			r.pass(2 * time.Second)
			if err := nested.Unlock(ctx); !errors.Is(err, rlock.ErrLeaseLost) {
				r.Error(err)
			}
		},
		"a nested lease that is unlocked in time": func(r *rig, _ *rlock.Client, l *rlock.Lock) {
			h := hold(r, l, rlock.AtLeast(atLeast))
			nested := hold(r, l, rlock.As(h.Owner()), rlock.Lease(4*time.Second))
			unlock(r, h)
			r.pass(2 * time.Second)
			unlock(r, nested)
		},
		"a nested MaxHold": func(r *rig, _ *rlock.Client, l *rlock.Lock) {
			h := hold(r, l, rlock.AtLeast(atLeast))
			hold(r, l, rlock.As(h.Owner()), rlock.MaxHold(time.Second))
			unlock(r, h)
		},
		"a nested hold of the watchdog, in a client that is closed": func(r *rig, c *rlock.Client, l *rlock.Lock) {
			h := hold(r, l, rlock.AtLeast(atLeast))
			hold(r, l, rlock.As(h.Owner()))
			unlock(r, h)
			r.pass(1500 * time.Millisecond) // a renewal has set the watchdog's lease
			_ = c.Close()
		},
		"the watchdog's lease, in place of a longer one": func(r *rig, c *rlock.Client, l *rlock.Lock) {
			h := hold(r, l, rlock.AtLeast(atLeast), rlock.Lease(10*time.Second))
			nested := hold(r, l, rlock.As(h.Owner()))
			unlock(r, h)
			_ = nested
			_ = c.Close()
		},
		"a nested acquire after that": func(r *rig, c *rlock.Client, l *rlock.Lock) {
			h := hold(r, l, rlock.AtLeast(atLeast))
			o := h.Owner()
			hold(r, l, rlock.As(o), rlock.Lease(time.Second))
			unlock(r, h)
			r.pass(2 * time.Second)
			hold(r, l, rlock.As(o), rlock.Lease(time.Second))
		},
		"UnlockAs": func(r *rig, _ *rlock.Client, l *rlock.Lock) {
			h := hold(r, l, rlock.AtLeast(atLeast))
			hold(r, l, rlock.As(h.Owner()), rlock.Lease(time.Second))
			unlock(r, h)
			r.pass(2 * time.Second)
			if err := l.UnlockAs(ctx, h.Owner()); err != nil {
				r.Error(err)
			}
		},
		"Extend": func(r *rig, _ *rlock.Client, l *rlock.Lock) {
			h := hold(r, l, rlock.AtLeast(atLeast), rlock.Lease(10*time.Second))
			if err := h.Extend(ctx, time.Second); err != nil {
				r.Error(err)
			}
		},
		"Extend of another hold": func(r *rig, _ *rlock.Client, l *rlock.Lock) {
			h := hold(r, l, rlock.AtLeast(atLeast))
			nested := hold(r, l, rlock.As(h.Owner()), rlock.Lease(10*time.Second))
			unlock(r, h)
			if err := nested.Extend(ctx, time.Second); err != nil {
				r.Error(err)
			}
		},
		"the owner's last hold in another client": func(r *rig, _ *rlock.Client, l *rlock.Lock) {
			h := hold(r, l, rlock.AtLeast(atLeast))
			hold(r, exclusive(r.open(), "orders")[kind], rlock.As(h.Owner()), rlock.Lease(time.Second))
			unlock(r, h)
		},
	} {
		for _, kind = range []string{"plain", "fair", "fenced", "spin"} {
			t.Run(what+", "+kind, func(t *testing.T) {
				inBubble(t, func(r *rig) {
					c, other := r.open(rlock.WithWatchdogTimeout(watchdog)), r.open()
					began := time.Now()
					test(r, c, exclusive(c, "orders")[kind])
					for {
						h, err := exclusive(other, "orders")[kind].TryLock(ctx)
						if err == nil {
							unlock(r, h)
							break
						}
						if r.pass(10 * time.Millisecond); since(began) > time.Minute {
							t.Fatal(err)
						}
					}
					if took := since(began); took < atLeast || took > atLeast+watchdog {
						t.Errorf("it was free after %v of %v", took, atLeast)
					}
				})
			})
		}
	}
}

// What keeps a lock taken for a hold that is over does not keep it for one that is alive: if its process dies, the lock ends with
// the watchdog's lease.
func TestAtLeastOfALivingHoldEndsWithItsProcess(t *testing.T) {
	inBubble(t, func(r *rig) {
		ctx := context.Background()
		c, other := r.open(rlock.WithWatchdogTimeout(3*time.Second)), r.open()
		h := must(c.NewLock("orders").TryLock(ctx, rlock.AtLeast(time.Hour)))(r)
		nested := must(c.NewLock("orders").TryLock(ctx, rlock.As(h.Owner())))(r)
		if err := nested.Unlock(ctx); err != nil {
			t.Error(err)
		}
		r.pass(10 * time.Second) // it was renewed
		r.at(func() { r.world.Block(host(1), address, true) })
		began := time.Now()
		must(other.NewLock("orders").Lock(ctx))(r)
		if took := since(began); took > 4*time.Second {
			t.Errorf("it was free %v after the process died", took)
		}
		r.at(func() { r.world.Block(host(1), address, false) })
	})
}
