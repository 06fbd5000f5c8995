package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// lives is how long the keys of an owner's read holds live.
func (r *rig) lives(name string, o rlock.Owner) (all []time.Duration) {
	r.at(func() {
		for i := 1; ; i++ {
			key := fmt.Sprintf("%s:%s:rwlock_timeout:%d", codec.ReadHolds(name), o, i)
			if !r.server.Exists(key) {
				return
			}
			all = append(all, time.Until(r.server.Until(key)))
		}
	})
	return all
}

func TestReadHoldsAreRenewedEachWithItsKey(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		rw := r.open().NewReadWriteLock("doc")
		w := must(rw.WriteLock().Lock(ctx))(r)
		read, again := must(rw.ReadLock().Lock(ctx, rlock.As(w.Owner())))(r), must(rw.ReadLock().Lock(ctx, rlock.As(w.Owner())))(r)
		live := func(holds int) {
			r.Helper()
			for range 400 {
				r.pass(100 * time.Millisecond)
				all := r.lives("doc", w.Owner())
				if len(all) != holds || all[0] > 30*time.Second {
					t.Fatalf("%d holds have %v", holds, all)
				}
			}
		}
		live(2)
		must(0, again.Unlock(ctx))(r) // this would stop a Redisson writer's renewal
		live(1)
		r.goesOn(w)
		must(0, w.Unlock(ctx))(r)
		live(1)
		r.goesOn(read)
		must(0, read.Unlock(ctx))(r)
	})
}

// Another client's renewal shortens the lock's TTL. The client restores a fixed lease every third of the watchdog timeout.
func TestFixedReadLeaseIsAsserted(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		l := r.open().NewReadWriteLock("doc").ReadLock()
		began := time.Now()
		h := must(l.Lock(ctx, rlock.Lease(10*time.Minute)))(r)
		for range 3 {
			r.do("PEXPIRE", "doc", "30000")
			r.pass(11 * time.Second)
			if ttl, left := must(l.RemainTTL(ctx))(r), time.Until(h.ValidUntil()); ttl < left {
				t.Errorf("the lock has %v, the hold %v", ttl, left)
			}
			if all, left := r.lives("doc", h.Owner()), 10*time.Minute-since(began); len(all) != 1 || all[0] > left+100*time.Millisecond {
				t.Errorf("its key has %v of %v", all, left)
			}
		}
	})
}

// The client restores a fixed lease until that lease ends, and no longer.
func TestFixedReadLeaseIsNotMadeLonger(t *testing.T) {
	const lease = 12 * time.Second
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		rw := r.open(rlock.WithWatchdogTimeout(3 * time.Second)).NewReadWriteLock("doc")
		began := time.Now()
		h := must(rw.ReadLock().Lock(ctx, rlock.Lease(lease)))(r)
		for h.Err() == nil {
			if all := r.lives("doc", h.Owner()); len(all) > 1 || len(all) == 1 && all[0] > lease-since(began)+100*time.Millisecond {
				t.Errorf("after %v its key has %v", since(began), all)
			}
			r.pass(50 * time.Millisecond)
		}
		must(rw.WriteLock().Lock(ctx))(r) // when its lease has ended
		if took := since(began); !errors.Is(h.Err(), rlock.ErrLeaseLost) || took < lease || took > lease+time.Second {
			t.Errorf("a lease of %v was over after %v: %v", lease, took, h.Err())
		}
	})
}

// A writer's fixed lease, and a plain lock's, are not renewed.
func TestOtherFixedLeasesAreNotAsserted(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		c := r.open()
		for _, l := range []*rlock.Lock{c.NewReadWriteLock("doc").WriteLock(), c.NewLock("plain")} {
			h := must(l.Lock(ctx, rlock.Lease(10*time.Minute)))(r)
			r.do("PEXPIRE", l.Name(), "60000")
			r.pass(50 * time.Second)
			r.goesOn(h)
			if ttl := must(l.RemainTTL(ctx))(r); ttl > 10*time.Second {
				t.Errorf("%s has %v", l.Name(), ttl)
			}
		}
	})
}

// A writer's field is named by more than its owner, so the script that renews plain locks would not find it.
func TestLocksOfAllKindsAreRenewedTogether(t *testing.T) {
	for first := range 2 {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			inBubble(t, func(r *rig) {
				c := r.open()
				all := []*rlock.Lock{c.NewLock("account"), c.NewReadWriteLock("prices").WriteLock(), c.NewReadWriteLock("stock").ReadLock()}
				for _, kind := range []string{"fair", "fenced", "spin", "non-reentrant"} {
					all = append(all, exclusive(c, kind)[kind])
				}
				all[0], all[first] = all[first], all[0]
				var holds []*rlock.Hold
				for _, l := range all {
					holds = append(holds, must(l.Lock(context.Background()))(r))
				}
				r.pass(5 * time.Minute)
				for _, h := range holds {
					r.goesOn(h)
					must(0, h.Unlock(context.Background()))(r)
				}
			})
		})
	}
}

// In its last millisecond a key has a TTL of 0 and lives. A read hold that is that old keeps the lock when another reader unlocks.
func TestReadHoldKeepsTheLockInItsLastMillisecond(t *testing.T) {
	const lease, step = 26 * time.Millisecond, 100 * time.Microsecond
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		l := r.open().NewReadWriteLock("doc").ReadLock()
		var until time.Time // when the brief hold ends; guarded by the world's lock, like tight
		tight := 0
		r.at(func() {
			r.server.Ran = func(*simredis.Server, string, []string, any) {
				left := time.Until(until)
				if left > 0 && !r.server.Exists("doc") {
					t.Errorf("a reader's unlock deleted the lock %v before a read hold ended", left)
				}
				if 0 < left && left < time.Millisecond {
					tight++
				}
			}
		})
		for begins := time.Duration(0); begins < time.Millisecond; begins += step {
			for before := step; before < 2*time.Millisecond; before += step {
				other := must(l.Lock(ctx))(r)
				time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second + begins)))
				brief := must(l.Lock(ctx, rlock.Lease(lease)))(r)
				r.at(func() { until = brief.ValidUntil() })
				time.Sleep(time.Until(brief.ValidUntil()) - before)
				must(0, other.Unlock(ctx))(r)
				r.pass(time.Second)
			}
		}
		if tight < 20 {
			t.Errorf("%d commands ran in the last millisecond of a hold", tight)
		}
	})
}
