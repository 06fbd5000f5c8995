package invariants

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// without makes the server refuse some commands, and returns a URL for clients.
func (r *rig) without(commands ...string) string {
	r.Helper()
	for _, c := range commands {
		words := strings.Split(c, "|")
		r.Proxy.Add(faultproxy.Rule{Match: faultproxy.Command(words...), Do: faultproxy.Answer, Reply: fmt.Appendf(nil,
			"-NOPERM User app has no permissions to run the '%s' command\r\n", c)})
	}
	r.latchesMayStay = true
	return r.URL()
}

// If KILL is refused, a late acquire runs. The undo, repeated each second, removes it, not the end of its lease.
func TestA5WithoutKillALateAcquireIsRemoved(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		url := r.without("client|kill")
		c := r.openAt(url)
		l := c.NewLock(name)
		late := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.Withhold})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		got := testbed.Enter(ctx, l, rlock.Lease(long))
		testbed.Receive(t, "the acquire", late.Hit())
		cancel()
		want(t, testbed.Receive(t, "Lock returns", got).Err, context.Canceled)
		r.Proxy.CutAll()
		r.Becomes("the first undo", func() bool {
			undos := r.of("unlock", name)
			return len(undos) == 1 && !undos[0].Answered.IsZero()
		})
		if n := late.Release(); n != 1 {
			t.Fatal("the late acquire did not run; nothing is shown by this test")
		}
		arrived := time.Now()
		r.Gone(name)
		if took := time.Since(arrived); took > 10*time.Second {
			t.Errorf("removed after %v, want about a second", took)
		}
	})
}

// The undo is repeated for one lease, no longer.
func TestA5WithoutKillTheUndoIsRepeatedForOneLease(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		url := r.without("client|kill")
		c := r.openAt(url)
		const lease = 4 * time.Second
		r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.CutBefore})
		h := granted(t, testbed.Enter(t.Context(), c.NewLock(name), rlock.Lease(lease)))
		first := r.of("acquire", name)[0].owners[0]
		undos := func() []step {
			return slices.DeleteFunc(r.of("unlock", name), func(s step) bool { return !s.over(first) })
		}
		began := time.Now()
		r.Becomes("one lease and more has passed", func() bool { return time.Since(began) > lease+latencies })
		all := undos()
		if n := len(all); n < 3 || n > 6 {
			t.Errorf("%d undos within one lease of %v, want one a second", n, lease)
		}
		if last := all[len(all)-1].Sent; last.After(began.Add(lease + latencies)) {
			t.Errorf("the last undo came %v after the acquire", last.Sub(began))
		}
		_ = h.Unlock(t.Context()) // its own lease is over by now
	})
}

// The repeated undo is for the lost try's owner, never for the owner that got in after it.
func TestA5WithoutKillTheUndoSparesTheHoldThatFollowed(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		url := r.without("client|kill")
		r.occupy(name)
		got := testbed.Enter(t.Context(), r.openAt(url).NewLock(name))
		r.answered(name, 2)
		r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.CutAfter})
		r.vacate(name)
		h := granted(t, got)
		lost := r.of("acquire", name)[2].owners[0]
		r.Becomes("two more undos", func() bool {
			r.heldOnlyBy(name, h.Owner(), 1)
			return len(r.of("unlock", name)) > 2
		})
		for _, s := range r.of("unlock", name) {
			if !s.over(lost) || s.over(h.Owner().String()) {
				t.Errorf("undone: %v; the lost try was %s's", s.owners, lost)
			}
		}
		want(t, h.Err(), nil)
		unlock(t, h)
		r.Gone(name)
	})
}

func TestA5WithoutKillASharedOwnerIsUncertain(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		url := r.without("client|kill")
		c := r.openAt(url)
		l := c.NewLock(name)
		h := lock(t, l)
		r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.CutAfter})
		got := testbed.Receive(t, "Lock returns", testbed.Enter(t.Context(), l, rlock.As(h.Owner())))
		want(t, got.Err, rlock.ErrUncertain)
	})
}

// withheld keeps a command's bytes in flight while the client gives up their connection.
func (r *rig) withheld(m faultproxy.Match, send func()) *faultproxy.Handle {
	r.Helper()
	late := r.Proxy.Add(faultproxy.Rule{Match: m, Times: 1, Do: faultproxy.Withhold})
	done := make(chan struct{})
	go func() { defer close(done); send() }()
	testbed.Receive(r, "the command", late.Hit())
	r.Proxy.CutAll()
	testbed.Receive(r, "the call returns", done)
	return late
}

// arrives lets the withheld bytes run, and fails if a living hold is then trusted for longer than the key lives.
func (r *rig) arrives(late *faultproxy.Handle, holds ...*rlock.Hold) {
	r.Helper()
	if n := late.Release(); n != 1 {
		r.Fatal("the late command did not run; nothing is shown by this test")
	}
	expires := r.expires(name)
	for i, h := range holds {
		if valid := h.ValidUntil(); h.Err() == nil && valid.After(expires) {
			r.Errorf("hold %d is trusted for %v where the key lives for %v", i, time.Until(valid), time.Until(expires))
		}
	}
}

// A late command that can't be stopped may cut the lease that a later one has set: nothing beyond it is promised.
func TestH6WithoutKillNoPromiseIsLongerThanALateCommand(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		late faultproxy.Match
		send func(*testing.T, *rlock.Lock, *rlock.Hold)
	}{
		"extension": {late: renewals, send: func(t *testing.T, _ *rlock.Lock, h *rlock.Hold) {
			want(t, h.Extend(t.Context(), soon), nil)
		}},
		"re-entry": {late: acquires, send: func(t *testing.T, l *rlock.Lock, h *rlock.Hold) {
			_, err := l.Lock(t.Context(), rlock.As(h.Owner()), rlock.Lease(soon/2))
			want(t, err, rlock.ErrUncertain)
		}},
		"partial unlock": {late: unlocks, send: func(t *testing.T, l *rlock.Lock, h *rlock.Hold) {
			unlock(t, lock(t, l, rlock.As(h.Owner()), rlock.Lease(soon/2)))
		}},
	} {
		t.Run(what, func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				url := r.without("client|kill")
				l := r.openAt(url).NewLock(name)
				h := lock(t, l, rlock.Lease(soon*3/2))
				late := r.withheld(c.late, func() { c.send(t, l, h) })
				err := h.Extend(t.Context(), time.Minute)
				want(t, err, rlock.ErrUncertain)
				if left := time.Until(h.ValidUntil()); left > soon*3/2 || left < 0 {
					t.Errorf("trusted for %v", left)
				}
				r.arrives(late, h)
			})
		})
	}
}

// An unlock that was given up may still arrive.
func TestH6WithoutKillALatePartialUnlockIsReckonedWith(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		url := r.without("client|kill")
		l := r.openAt(url).NewLock(name)
		outer := lock(t, l, rlock.Lease(30*time.Second))
		inner := lock(t, l, rlock.As(outer.Owner()))
		late := r.withheld(unlocks, func() {
			r.Proxy.Add(faultproxy.Rule{Match: unlocks, Do: faultproxy.CutBefore})
			want(t, inner.Unlock(t.Context()), rlock.ErrUncertain)
		})
		r.Becomes("the next command of the owner is answered", func() bool {
			want(t, outer.Extend(t.Context(), time.Minute), rlock.ErrUncertain)
			return time.Until(outer.ValidUntil()) > 15*time.Second // it may set what the outer hold needed then
		})
		r.arrives(late, outer)
	})
}

// The watchdog's renewals pass as much as any hold needs, so they go on after trust was cut short.
func TestH6WithoutKillALateRenewalIsReckonedWith(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		url := r.without("client|kill")
		const dog = 6 * time.Second
		l := r.openAt(url, rlock.WithWatchdogTimeout(dog)).NewLock(name)
		outer := lock(t, l)
		late := r.withheld(renewals, func() { r.Becomes("renewed", func() bool { return len(r.of("renewal", name)) > 0 }) })
		r.Becomes("renewed again", func() bool {
			all := r.of("renewal", name)
			return !all[len(all)-1].Answered.IsZero()
		})
		inner := lock(t, l, rlock.As(outer.Owner()), rlock.Lease(time.Minute))
		r.arrives(late, outer, inner)
		r.lives(2*dog, outer, inner)
		r.heldOnlyBy(name, outer.Owner(), 2)
		unlock(t, inner, outer)
	})
}

// If a renewing lease is trusted for less than a third of the watchdog's timeout, it is renewed more often.
func TestH6WithoutKillRenewalKeepsUpWithWhatIsTrusted(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		url := r.without("client|kill")
		l := r.openAt(url, rlock.WithWatchdogTimeout(long)).NewLock(name)
		outer := lock(t, l, rlock.Lease(6*time.Second))
		late := r.withheld(renewals, func() { _ = outer.Extend(t.Context(), 4*time.Second) })
		inner := lock(t, l, rlock.As(outer.Owner()))
		r.lives(12*time.Second, inner)
		if n := len(r.of("renewal", name)); n > 30 {
			t.Errorf("%d renewals", n)
		}
		r.arrives(late, inner)
		unlock(t, inner)
	})
}

// A late command counts for one watchdog timeout, and at least as long as an unlock's result is kept.
func TestH6WithoutKillALateCommandIsReckonedWithForALease(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		url := r.without("client|kill")
		const dog = 5*timeout + 2*time.Second // more than 5 timeouts and a second
		l := r.openAt(url, rlock.WithWatchdogTimeout(dog)).NewLock(name)
		h := lock(t, l, rlock.Lease(long))
		late := r.withheld(renewals, func() { _ = h.Extend(t.Context(), 5*time.Second) })
		defer late.Release()
		began := time.Now()
		for err := rlock.ErrUncertain; err != nil; err = h.Extend(t.Context(), time.Minute) {
			want(t, err, rlock.ErrUncertain)
			if time.Since(began) > dog+soon {
				t.Fatalf("still uncertain after %v", time.Since(began))
			}
			<-time.After(50 * time.Millisecond)
		}
		if took := time.Since(began); took < dog-timeout {
			t.Errorf("certain after %v", took)
		}
		if left := time.Until(h.ValidUntil()); left < 50*time.Second {
			t.Errorf("trusted for %v", left)
		}
	})
}

// Even if the same owner holds again by then, the client remembers the late command.
func TestH6WithoutKillALateCommandOutlivesItsHold(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		url := r.without("client|kill")
		l := r.openAt(url).NewLock(name)
		h := lock(t, l, rlock.Lease(long))
		late := r.withheld(renewals, func() { _ = h.Extend(t.Context(), soon) })
		unlock(t, h)
		again := lock(t, l, rlock.As(h.Owner()), rlock.Lease(long))
		r.arrives(late, again)
		_ = again.Unlock(t.Context())
	})
}

// The server refuses CLIENT, so the client can't name its connection or learn its id.
func TestA5WithoutClientCommandsALostReplyIsUndone(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		url := r.without("client")
		l := r.openAt(url).NewLock(name)
		r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.CutAfter})
		h := lock(t, l)
		r.heldOnlyBy(name, h.Owner(), 1)
		r.Proxy.Add(faultproxy.Rule{Match: unlocks, Times: 1, Do: faultproxy.CutAfter})
		unlock(t, h)
		r.Gone(name)
		r.neverSentAgain(name)
	})
}

// With replicas, acquires and releases have a connection each. The undo of an acquire goes on the one that is alive,
// but only after the other was killed.
func TestA5UndoOnAnotherConnectionFollowsTheKillBarrier(t *testing.T) {
	t.Parallel()
	each(t, map[string]faultproxy.Action{
		"the reply is lost":        faultproxy.CutAfter,
		"the acquire is under way": faultproxy.Withhold,
	}, func(t *testing.T, r *rig, do faultproxy.Action) {
		r.server.(*testbed.SimulatedServer).Replica()
		c := r.open(rlock.WithReplicaSync(true))
		unlock(t, lock(t, c.NewLock("another"))) // both connections are there now
		late := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: do})
		got := testbed.Receive(t, "Lock returns", testbed.Enter(t.Context(), c.NewLock(name)))
		if got.Err == nil {
			unlock(t, got.Hold)
		}
		r.Becomes("it is undone", func() bool {
			undos := r.of("unlock", name)
			return len(undos) > 0 && !undos[0].Answered.IsZero()
		})
		tries, undos := r.of("acquire", name), r.of("unlock", name)
		if len(undos) == 0 || undos[0].owners[0] != tries[0].owners[0] {
			t.Fatalf("acquires %v, unlocks %v", tries, undos)
		}
		if earlier := r.of("unlock", "another"); undos[0].Conn != earlier[0].Conn || undos[0].Conn == tries[0].Conn {
			t.Errorf("acquired on connection %d, undone on %d, released on %d before", tries[0].Conn, undos[0].Conn, earlier[0].Conn)
		}
		r.killed(tries[0].Conn, undos[0].at)
		r.Gone(name)
		if do == faultproxy.Withhold {
			if n := late.Release(); n != 0 || !r.Free(name) {
				t.Errorf("the withheld acquire ran: %v", r.fields(name))
			}
		}
	})
}

// Without a kill barrier the lost send may run at any time. That does no harm to an owner that nobody else knows. An
// owner whose text left is not used again in this client.
func TestR4WithoutAKillBarrier(t *testing.T) {
	t.Parallel()
	t.Run("nobody knows the owner", func(t *testing.T) {
		play(t, func(t *testing.T, r *rig) {
			url := r.without("client|kill")
			c := r.openAt(url)
			h := lock(t, c.NewLock(name))
			text := r.holder(name)
			late, released := r.unlocking(h, faultproxy.Rule{Do: faultproxy.Withhold})
			r.Proxy.CutAll()
			want(t, testbed.Receive(t, "Unlock returns", released), nil)
			r.unlatched(name, 2)
			next := lock(t, r.openAt(url).NewLock(name))
			if late.Release() != 1 {
				t.Error("it did not run; nothing is shown by this test")
			}
			if err := next.Err(); err != nil || r.fields(name)[r.holder(name)] != 1 {
				t.Errorf("the next holder: %v, left %v", err, r.fields(name))
			}
			unlock(t, next)
			_, err := c.NewLock(name).TryLock(t.Context(), rlock.As(parse(t, text)))
			want(t, err, rlock.ErrUncertain)
			r.Gone(name)
		})
	})
	t.Run("it was shown meanwhile", func(t *testing.T) {
		play(t, func(t *testing.T, r *rig) {
			url := r.without("client|kill")
			c := r.openAt(url)
			l := c.NewLock(name)
			h := lock(t, l)
			late, released := r.unlocking(h, faultproxy.Rule{Do: faultproxy.Withhold})
			o := h.Owner()
			_ = o.String()
			r.Proxy.CutAll()
			want(t, testbed.Receive(t, "Unlock returns", released), rlock.ErrUncertain)
			r.unlatched(name, 1)
			_, err := l.TryLock(t.Context(), rlock.As(o))
			want(t, err, rlock.ErrUncertain)
			want(t, l.UnlockAs(t.Context(), o), rlock.ErrUncertain)
			r.heldOnlyBy(name, o, 1)
			r.unlatched(name, 1)
			late.Release()
			r.Gone(name)
		})
	})
}

// The same for an owner whose unlock has a latch. An unlock that finds nothing sets no latch, so an earlier lost one
// runs when it arrives.
func TestR4UnlockThatFoundNothingWithoutAKillBarrier(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		url := r.without("client|kill")
		l := r.openAt(url).NewLock(name)
		h := lock(t, l)
		o := h.Owner()
		_ = o.String()
		late, released := r.unlocking(h, faultproxy.Rule{Do: faultproxy.Withhold})
		r.Do("DEL", name)
		r.Proxy.CutAll()
		want(t, testbed.Receive(t, "Unlock returns", released), rlock.ErrNotHeld)
		again, err := l.TryLock(t.Context(), rlock.As(o))
		want(t, err, rlock.ErrUncertain)
		if late.Release() != 1 {
			t.Error("it did not run; nothing is shown by this test")
		}
		if again != nil && again.Err() == nil {
			r.heldOnlyBy(name, o, 1)
		}
	})
}
