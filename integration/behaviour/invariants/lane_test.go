package invariants

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// Re-entries, unlocks and renewals of one owner run at once. Each is sent only after the reply to the one before.
func TestH6CommandsOfAnOwnerAreSentOneAtATime(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		const delay = 2 * time.Millisecond // of each reply, to expose a command that does not wait for it
		r.Proxy.Add(faultproxy.Rule{Match: faultproxy.Command("EVALSHA"), Do: faultproxy.HoldReply, Delay: delay})
		const lease = 4 * time.Second
		c := r.openSlow(rlock.WithWatchdogTimeout(lease))
		l := c.NewLock(name)
		base := lock(t, l)
		o := base.Owner()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 40 {
					var opts []rlock.AcquireOption
					switch rand.N(4) {
					case 0:
						opts = append(opts, rlock.Lease(long))
					case 1:
						opts = append(opts, rlock.Lease(lease))
					}
					h, err := l.Lock(t.Context(), append(opts, rlock.As(o))...)
					if err != nil {
						t.Error(err)
						return
					}
					<-time.After(time.Duration(rand.N(int64(5 * time.Millisecond))))
					if err := h.Unlock(t.Context()); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		// Renewals skip an owner that is busy, so leave it alone for a while.
		quiet := len(r.of("renewal", name))
		r.Becomes("renewals", func() bool { return len(r.of("renewal", name)) > quiet+2 })
		r.heldOnlyBy(name, o, 1)
		unlock(t, base)
		steps := r.steps()
		oneAtATime(t, steps, delay)
		if len(steps) < 100 {
			t.Errorf("only %d steps", len(steps))
		}
		r.Gone(name)
	})
}

// While a command's outcome is open, its owner's next one waits until the connection is known to be dead.
func TestH6NothingIsSentWhileAnOutcomeIsOpen(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		const lease = 6 * time.Second
		c := r.open(rlock.WithWatchdogTimeout(lease))
		l := c.NewLock(name)
		h := lock(t, l)
		lost := r.Proxy.Add(faultproxy.Rule{Match: renewals, Times: 1, Do: faultproxy.Withhold})
		testbed.Receive(t, "a renewal", lost.Hit())
		released := testbed.Begun(func() error { return h.Unlock(t.Context()) })
		r.Proxy.CutAll()
		want(t, testbed.Receive(t, "Unlock returns", released), nil)
		un := r.of("unlock", name)
		if len(un) != 1 {
			t.Fatalf("%d unlocks", len(un))
		}
		r.killed(r.of("renewal", name)[0].Conn, un[0].at)
		if n := lost.Release(); n != 0 {
			t.Error("the renewal ran after the unlock")
		}
		if !r.Free(name) {
			t.Error("left", r.fields(name))
		}
	})
}

// A renewal that is due waits while another command of the owner is unanswered.
func TestH6RenewalWaitsForAnOpenCommand(t *testing.T) {
	t.Parallel()
	const lease = 6 * time.Second
	for what, match := range map[string]faultproxy.Match{"acquire": acquires, "unlock": unlocks} {
		t.Run(what, func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				l := r.openSlow(rlock.WithWatchdogTimeout(lease)).NewLock(name)
				outer := lock(t, l)
				var inner *rlock.Hold
				if what == "unlock" {
					inner = lock(t, l, rlock.As(outer.Owner()))
				}
				late := r.Proxy.Add(faultproxy.Rule{Match: match, Times: 1, Do: faultproxy.HoldReply})
				got := testbed.Acquire(func() (*rlock.Hold, error) {
					if inner != nil {
						return nil, inner.Unlock(t.Context())
					}
					return l.Lock(t.Context(), rlock.As(outer.Owner()))
				})
				testbed.Receive(t, what, late.Hit())
				began, before := time.Now(), len(r.of("renewal", name))
				r.Becomes("a renewal is due", func() bool { return time.Since(began) > lease*2/5 })
				if n := len(r.of("renewal", name)); n != before {
					t.Errorf("%d renewals beside an open %s", n-before, what)
				}
				late.Release()
				again := granted(t, got)
				r.Becomes("renewals go on", func() bool { return len(r.of("renewal", name)) > before+1 })
				if again != nil {
					unlock(t, again)
				}
				unlock(t, outer)
				r.Gone(name)
			})
		})
	}
}
