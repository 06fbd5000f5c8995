package invariants

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestH6NestedAcquireNeverShortensTheOuterLease(t *testing.T) {
	t.Parallel()
	each(t, map[string][]rlock.AcquireOption{
		"watchdog": nil,
		"lease":    {rlock.Lease(30 * time.Second)},
	}, func(t *testing.T, r *rig, outer []rlock.AcquireOption) {
		l := r.open(rlock.WithWatchdogTimeout(30 * time.Second)).NewLock(name)
		a := lock(t, l, outer...)
		promised := a.ValidUntil()
		const short = 2 * time.Second
		b := lock(t, l, rlock.As(a.Owner()), rlock.Lease(short))
		if expires := r.expires(name); expires.Before(promised) {
			t.Errorf("the key goes %v before the outer hold's time", promised.Sub(expires))
		}
		if valid := b.ValidUntil(); valid.After(time.Now().Add(trusted(short))) {
			t.Errorf("the inner hold is valid for %v", time.Until(valid))
		}
		testbed.Receive(t, "the inner lease ends", b.Done())
		want(t, b.Err(), rlock.ErrLeaseLost)
		if err := a.Err(); err != nil {
			t.Errorf("the outer: %v", err)
		}
		r.heldOnlyBy(name, a.Owner(), 2)
		want(t, b.Unlock(t.Context()), rlock.ErrLeaseLost)
		if expires := r.expires(name); expires.Before(promised) {
			t.Errorf("after the inner unlock the key goes %v before the outer hold's time", promised.Sub(expires))
		}
		r.heldOnlyBy(name, a.Owner(), 1)
		if a.Err() != nil || a.ValidUntil().After(r.expires(name)) {
			t.Errorf("the outer: %v, valid until %v, the key until %v", a.Err(), a.ValidUntil(), r.expires(name))
		}
		unlock(t, a)
		r.Gone(name)
	})
}

func TestH6LongerInnerLeaseDoesNotProlongTheOuterHold(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open().NewLock(name)
		a := lock(t, l, rlock.Lease(2*time.Second))
		b := lock(t, l, rlock.As(a.Owner()), rlock.Lease(long))
		testbed.Receive(t, "the outer lease ends", a.Done())
		if err := b.Err(); err != nil {
			t.Errorf("the inner: %v", err)
		}
		if left := time.Until(b.ValidUntil()); left < long/2 {
			t.Errorf("the inner is valid for %v", left)
		}
		r.heldOnlyBy(name, a.Owner(), 2)
		unlock(t, b)
		r.heldOnlyBy(name, a.Owner(), 1)
		// The remaining hold's lease is over, but the unlock still passes a millisecond at least, except for a read lock,
		// whose holds have a lease each.
		if un := r.of("unlock", name); un[0].lease < time.Millisecond && r.kind.Mode != "read" {
			t.Errorf("passed %v", un[0].lease)
		}
	})
}

func TestH6PartialUnlockPassesWhatTheOthersStillNeed(t *testing.T) {
	t.Parallel()
	const dog = 20 * time.Second
	short, middle, long := rlock.Lease(10*time.Second), rlock.Lease(40*time.Second), rlock.Lease(80*time.Second)
	for what, c := range map[string]struct {
		outer, inner []rlock.AcquireOption
		least, most  time.Duration // what the unlock of inner passes
	}{
		"lease inside longer lease":  {[]rlock.AcquireOption{middle}, []rlock.AcquireOption{short}, 35 * time.Second, 40 * time.Second},
		"lease inside shorter lease": {[]rlock.AcquireOption{middle}, []rlock.AcquireOption{long}, 35 * time.Second, 40 * time.Second},
		// During the long lease the outer hold's ValidUntil shows it, and may keep it.
		"lease inside watchdog":        {nil, []rlock.AcquireOption{long}, dog, 80 * time.Second},
		"watchdog inside longer lease": {[]rlock.AcquireOption{middle}, nil, 35 * time.Second, 40 * time.Second},
		"watchdog inside short lease":  {[]rlock.AcquireOption{short}, nil, 5 * time.Second, 10 * time.Second},
		"watchdog inside watchdog":     {nil, nil, dog, dog},
	} {
		t.Run(what, func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				l := r.open(rlock.WithWatchdogTimeout(dog)).NewLock(name)
				a := lock(t, l, c.outer...)
				promised := a.ValidUntil()
				b := lock(t, l, append(slices.Clone(c.inner), rlock.As(a.Owner()))...)
				unlock(t, b)
				un := r.of("unlock", name)
				if got := un[0].lease; got < c.least || got > c.most {
					t.Errorf("passed %v, want %v to %v", got, c.least, c.most)
				}
				expires := r.expires(name)
				if expires.Before(promised) {
					t.Errorf("the key goes %v before the outer hold's time", promised.Sub(expires))
				}
				if valid := a.ValidUntil(); valid.After(expires) || valid.Before(promised.Add(-latencies)) {
					t.Errorf("valid until %v, promised %v, the key until %v", valid, promised, expires)
				}
				unlock(t, a)
				r.Gone(name)
			})
		})
	}
}

// The lock is taken after `began`, and the proxy notes the unlock after its send: it must pass at least the difference.
func TestH6WhatIsPassedIsRoundedUp(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open().NewLock(name)
		const lease = 30 * time.Second
		for i := range 30 {
			began := time.Now()
			a := lock(t, l, rlock.Lease(lease))
			unlock(t, lock(t, l, rlock.As(a.Owner())))
			un := r.of("unlock", name)[2*i]
			if needed := began.Add(lease).Sub(un.Sent); un.lease < needed {
				t.Errorf("passed %v where %v were promised still", un.lease, needed)
			}
			unlock(t, a)
		}
	})
}

func TestH6RenewalGoesOnAfterAPartialUnlock(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		const lease = 3 * time.Second
		l := r.open(rlock.WithWatchdogTimeout(lease)).NewLock(name)
		for _, outer := range []int{0, 1} { // the watchdog's hold may be the outer or the inner one
			opts := [][]rlock.AcquireOption{nil, {rlock.Lease(long)}}
			a := lock(t, l, opts[outer]...)
			b := lock(t, l, append(opts[1-outer], rlock.As(a.Owner()))...)
			holds := []*rlock.Hold{a, b}
			unlock(t, holds[1-outer]) // the one with the lease
			h := holds[outer]
			r.lives(lease*4/3, h)
			r.heldOnlyBy(name, h.Owner(), 1)
			unlock(t, h)
			r.Gone(name)
		}
	})
}

// A renewal must not shorten the longer lease of another hold of the owner.
func TestH6RenewalDoesNotShortenALongerLease(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		const lease = 3 * time.Second
		l := r.open(rlock.WithWatchdogTimeout(lease)).NewLock(name)
		a := lock(t, l)
		b := lock(t, l, rlock.As(a.Owner()), rlock.Lease(long))
		promised := b.ValidUntil()
		began := time.Now()
		r.Becomes("two leases passed", func() bool {
			if expires := r.expires(name); expires.Before(promised) {
				t.Fatalf("the key goes %v too early", promised.Sub(expires))
			}
			return time.Since(began) > 2*lease
		})
		if a.Err() != nil || b.Err() != nil {
			t.Error(a.Err(), b.Err())
		}
		unlock(t, b, a)
		r.Gone(name)
	})
}

// Random calls: the key always outlives what each living hold was promised, and no hold is trusted for longer.
func TestH6KeyOutlivesEveryPromise(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		const lease = 3 * time.Second
		l := r.open(rlock.WithWatchdogTimeout(lease)).NewLock(name)
		holds := []*rlock.Hold{lock(t, l)}
		o := holds[0].Owner()
		fixed := map[*rlock.Hold]bool{}
		for end := time.Now().Add(lease); time.Now().Before(end); {
			i := rand.N(len(holds))
			switch n := rand.N(6); {
			case n < 2 && len(holds) < 6:
				opts := []rlock.AcquireOption{rlock.As(o)}
				if rand.N(3) > 0 {
					opts = append(opts, rlock.Lease(4*lease+time.Duration(rand.N(int64(3*time.Second)))))
				}
				h := lock(t, l, opts...)
				holds, fixed[h] = append(holds, h), len(opts) > 1
			case n == 2 && fixed[holds[i]]: // to be longer or shorter
				d, asked := 2*lease+time.Duration(rand.N(int64(4*lease))), time.Now()
				want(t, holds[i].Extend(t.Context(), d), nil)
				if valid := holds[i].ValidUntil(); valid.Before(asked.Add(trusted(d) - slack)) {
					t.Errorf("valid for %v after it was extended by %v", valid.Sub(asked), d)
				}
			case n < 5 && n > 2 && i > 0:
				unlock(t, holds[i])
				if fixed[holds[i]] {
					want(t, holds[i].Extend(t.Context(), lease), rlock.ErrReleased)
				}
				holds = slices.Delete(holds, i, i+1)
			default:
				<-time.After(time.Duration(rand.N(int64(lease / 20))))
			}
			for i, h := range holds {
				valid := h.ValidUntil()
				expires := r.expires(name)
				if h.Err() != nil {
					t.Fatalf("hold %d of %d: %v", i, len(holds), h.Err())
				}
				if expires.Before(valid) {
					t.Fatalf("hold %d of %d is trusted %v longer than the key lives", i, len(holds), valid.Sub(expires))
				}
			}
		}
		r.heldOnlyBy(name, o, len(holds))
		slices.Reverse(holds)
		unlock(t, holds...)
		r.Gone(name)
	})
}
