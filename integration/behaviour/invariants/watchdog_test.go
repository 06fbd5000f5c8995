package invariants

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// After an owner's last unlock no renewal names it.
func TestH5NoRenewalAfterUnlock(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		const lease = 4500 * time.Millisecond
		c := r.openSlow(rlock.WithWatchdogTimeout(lease))
		const names, rounds = 80, 3
		var all sync.WaitGroup
		for i := range names {
			l := c.NewLock(strconv.Itoa(i))
			all.Go(func() {
				for range rounds {
					h, err := l.Lock(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					// About when renewals are sent: after a third of the lease.
					hold := time.NewTimer(lease/3 + time.Duration(rand.N(100)-50)*time.Millisecond)
					<-hold.C
					want(t, h.Unlock(t.Context()), nil)
				}
			})
		}
		all.Wait()
		c.Close()
		released := map[string]bool{}
		renewed := 0
		for _, step := range r.steps() {
			switch step.kind {
			case "unlock":
				released[step.owners[0]] = true
			case "renewal":
				for _, owner := range step.owners {
					renewed++
					if released[owner] {
						t.Errorf("%s was renewed after its unlock", owner)
					}
				}
			}
		}
		if len(released) != names*rounds || renewed < 50 {
			t.Errorf("%d owners released, %d renewals: too few to show anything", len(released), renewed)
		}
	})
}

func TestH5PendingLeaseIsNotRenewed(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		const lease = 9 * time.Second
		c := r.openSlow(rlock.WithWatchdogTimeout(lease))
		late := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.HoldReply})
		got := testbed.Enter(t.Context(), c.NewLock(name))
		testbed.Receive(t, "the acquire", late.Hit())
		time.Sleep(lease * 2 / 3) // more than the third after which it would be renewed
		if n := len(r.of("renewal", name)); n != 0 {
			t.Errorf("%d renewals of a lease that was not granted yet", n)
		}
		released := time.Now()
		late.Release()
		h := granted(t, got)
		// Trust counts from the send, so the first renewal is overdue.
		r.Becomes("a renewal", func() bool { return len(r.of("renewal", name)) > 0 })
		if first := r.of("renewal", name)[0]; first.Sent.Before(released) || first.Sent.After(released.Add(lease/3)) {
			t.Errorf("the first renewal came %v after the reply", first.Sent.Sub(released))
		}
		r.Becomes("it goes on", func() bool { return len(r.of("renewal", name)) > 2 })
		if h.Err() != nil {
			t.Error(h.Err())
		}
		unlock(t, h)
	})
}

// The caller has left: what its acquire got is not renewed but given back.
func TestH5AbandonedGrantIsNotRenewed(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.openSlow(rlock.WithWatchdogTimeout(brief))
		late := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.HoldReply})
		ctx, cancel := context.WithCancel(t.Context())
		got := testbed.Enter(ctx, c.NewLock(name))
		testbed.Receive(t, "the acquire", late.Hit())
		cancel()
		want(t, testbed.Receive(t, "Lock returns", got).Err, context.Canceled)
		late.Release()
		r.Gone(name)
		time.Sleep(2 * brief)
		if n := len(r.of("renewal", name)); n != 0 {
			t.Errorf("%d renewals", n)
		}
	})
}

// A hold of an owner that lost the lock and got it again is renewed, and no reply for the first hold ends it.
func TestH5LostAndAcquiredAgainIsRenewed(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		const lease = 2 * time.Second // renewed before a look at a young lease is due
		c := r.openSlow(rlock.WithWatchdogTimeout(lease))
		l, o := c.NewLock(name), c.NewOwner()
		first := lock(t, l, rlock.As(o))
		held := r.Proxy.Add(faultproxy.Rule{Match: renewals, Times: 1, Do: faultproxy.HoldReply})
		r.Do("DEL", name)
		testbed.Receive(t, "the renewal that is answered \"not yours\"", held.Hit())
		again := testbed.Enter(t.Context(), l, rlock.As(o))
		r.Becomes("the renewal ran", func() bool { return !r.of("renewal", name)[0].Answered.IsZero() })
		held.Release()
		testbed.Receive(t, "the first is lost", first.Done())
		second := granted(t, again)
		r.lives(2*lease, second)
		r.heldOnlyBy(name, o, 1)
		unlock(t, second)
	})
}

// In the pauses of a refused unlock the client may renew other holds, but not the one that it gives up.
func TestH5RefusedUnlockIsNotRenewed(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		const lease = 9 * time.Second
		h := lock(t, r.openSlow(rlock.WithWatchdogTimeout(lease)).NewLock(name))
		released := r.refused(unlocks, lease, h.Unlock)
		if n := len(r.of("renewal", name)); n != 0 {
			t.Errorf("%d renewals after the unlock", n)
		}
		want(t, testbed.Receive(t, "Unlock returns", released), nil)
		r.Gone(name)
	})
}

// refused has releases refused until after a renewal would have been due.
func (r *rig) refused(releases faultproxy.Match, lease time.Duration, release func(context.Context) error) (released <-chan error) {
	r.Helper()
	full := r.Proxy.Add(faultproxy.Rule{Match: releases, Do: faultproxy.Answer, Reply: []byte("-OOM command not allowed when used memory > 'maxmemory'.\r\n")})
	released = testbed.Begun(func() error { return release(context.Background()) })
	time.Sleep(lease / 2) // more than a third
	full.Remove()
	return released
}

func TestH5MaxHoldEndsRenewal(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		const lease, most = 3 * time.Second, 4 * time.Second
		l := r.open(rlock.WithWatchdogTimeout(lease)).NewLock(name)
		began := time.Now()
		h := lock(t, l, rlock.MaxHold(most))
		testbed.Receive(t, "the hold ends", h.Done())
		want(t, h.Err(), rlock.ErrLeaseLost)
		r.Gone(name)
		if took := time.Since(began); took < most-slack || took > most+lease+latencies {
			t.Errorf("the key went after %v, want %v to %v", took, most, most+lease)
		}
		steps := r.of("renewal", name)
		if len(steps) == 0 || slices.ContainsFunc(steps, func(s step) bool { return s.Sent.After(began.Add(most + latencies)) }) {
			t.Errorf("%d renewals, the last %v after the start", len(steps), steps[len(steps)-1].Sent.Sub(began))
		}
		_ = h.Unlock(t.Context())
	})
}
