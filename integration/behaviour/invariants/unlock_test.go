package invariants

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestR2UnlockWithAContextThatIsOverReleases(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.openSlow().NewLock(name)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		h := lock(t, l)
		if err := h.Unlock(ctx); err != nil {
			t.Errorf("unlock: %v", err)
		}
		if !r.Free(name) {
			t.Error("not released")
		}
		// The same if the answer takes a while, and if the unlock must be sent again.
		for _, do := range []faultproxy.Action{faultproxy.HoldReply, faultproxy.CutAfter, faultproxy.CutBefore} {
			h = lock(t, l)
			r.Proxy.Add(faultproxy.Rule{Match: unlocks, Times: 1, Do: do, Delay: 200 * time.Millisecond})
			if err := h.Unlock(ctx); err != nil {
				t.Errorf("%v: %v", do, err)
			}
			if !r.Free(name) {
				t.Errorf("%v: not released", do)
			}
		}
		// And if the context ends while the answer is under way.
		h = lock(t, l)
		r.Proxy.Add(faultproxy.Rule{Match: unlocks, Times: 1, Do: faultproxy.HoldReply, Delay: 200 * time.Millisecond})
		ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		want(t, h.Unlock(ctx), nil)
	})
}

func TestR2UnlockWithAContextThatIsOverIsBounded(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		r.latchesMayStay = true
		c := r.open()
		h := lock(t, c.NewLock(name))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r.server.Pause()
		began := time.Now()
		released := testbed.Begun(func() error { return h.Unlock(ctx) })
		err := testbed.Receive(t, "Unlock returns", released)
		took := time.Since(began)
		r.server.Resume()
		want(t, err, rlock.ErrUncertain)
		want(t, h.Err(), rlock.ErrReleased)
		if took > timeout+latencies {
			t.Errorf("after %v, want about %v", took, timeout)
		}
		// The server runs the unlock that it was sent, or one that is sent in the background.
		r.Gone(name)
	})
}

func TestR3SecondUnlockIsErrReleasedAndTouchesNothing(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open().NewLock(name)
		a := lock(t, l)
		b := lock(t, l, rlock.As(a.Owner()))
		unlock(t, b)
		sent := r.Proxy.Count("EVALSHA")
		for range 3 {
			want(t, b.Unlock(t.Context()), rlock.ErrReleased)
		}
		if n := r.Proxy.Count("EVALSHA"); n != sent {
			t.Errorf("%d commands", n-sent)
		}
		r.heldOnlyBy(name, a.Owner(), 1)
		if a.Err() != nil {
			t.Error(a.Err())
		}
		// Many at once: one releases.
		const callers = 16
		errs := make(chan error, callers)
		for range callers {
			go func() { errs <- a.Unlock(context.Background()) }()
		}
		won := 0
		for range callers {
			err := testbed.Receive(t, "Unlock returns", errs)
			if err == nil {
				won++
			} else {
				want(t, err, rlock.ErrReleased)
			}
		}
		if won != 1 || len(r.of("unlock", name)) != 2 {
			t.Errorf("%d of them released, with %d commands in all", won, len(r.of("unlock", name)))
		}
	})
}

func TestR3NotTheOwnerAnyMoreIsErrNotHeld(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.open()
		l := c.NewLock(name)
		for what, steal := range map[string]func(){
			"gone":      func() { r.Do("DEL", name) },
			"another's": func() { r.Do("DEL", name); r.occupy(name) },
		} {
			h := lock(t, l)
			steal()
			before := r.fields(name)
			err := h.Unlock(t.Context())
			want(t, err, rlock.ErrNotHeld)
			wantNot(t, err, rlock.ErrReleased, rlock.ErrUncertain)
			if client, _, _ := strings.Cut(h.Owner().String(), ":"); client != c.ID().String() {
				t.Errorf("owner %s of client %s", h.Owner(), c.ID())
			}
			if part := "not held by owner " + h.Owner().String(); !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q is missing in: %v", what, part, err)
			}
			if after := r.fields(name); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("%s: %v became %v", what, before, after)
			}
			r.Do("DEL", name)
		}
		o := c.NewOwner()
		err := l.UnlockAs(t.Context(), o)
		if !errors.Is(err, rlock.ErrNotHeld) || !strings.Contains(err.Error(), c.ID().String()) {
			t.Errorf("UnlockAs: %v", err)
		}
	})
}

func TestR3UnlockAsIsOneDecrementOfAnOwnerWithoutAHoldHere(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		a, b := r.open(), r.open()
		la, lb := a.NewLock(name), b.NewLock(name)
		first := lock(t, la)
		lock(t, la, rlock.As(first.Owner()))
		want(t, la.UnlockAs(t.Context(), first.Owner()), rlock.ErrInvalidOption)
		r.heldOnlyBy(name, first.Owner(), 2)
		r.Proxy.Add(faultproxy.Rule{Match: unlocks, Times: 1, Do: faultproxy.CutAfter})
		before := r.expires(name)
		want(t, lb.UnlockAs(t.Context(), first.Owner()), nil)
		r.heldOnlyBy(name, first.Owner(), 1)
		if r.expires(name).Before(before.Add(-slack)) {
			t.Error("the partial release shortened the lease")
		}
		want(t, lb.UnlockAs(t.Context(), first.Owner()), nil)
		r.Gone(name)
	})
}

// After a long refusal and a last try that can't be sent, Unlock returns no later than after a lost reply.
func TestR1UnlockThatDidNotRunReturnsInTime(t *testing.T) {
	const command = 3 * time.Second
	const limit = 4*command + time.Second
	play(t, func(t *testing.T, r *rig) {
		h := lock(t, r.openWith("redis://"+r.Proxy.Addr(), command, nil).NewLock(name), rlock.Lease(long))
		r.Proxy.Add(faultproxy.Rule{Match: unlocks, Do: faultproxy.Answer, Reply: []byte("-OOM command not allowed when used memory > 'maxmemory'.\r\n")})
		began := time.Now()
		released := testbed.Begun(func() error { return h.Unlock(t.Context()) })
		r.Becomes("the last try is due", func() bool { return time.Since(began) > 4*command })
		r.cutOff()
		err := testbed.Receive(t, "Unlock returns", released)
		if took := time.Since(began); err == nil || took > limit+latencies {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// The first send was lost and may have run, however the server answers the next.
func TestR1RefusedRepetitionOfALostUnlockIsUncertain(t *testing.T) {
	with(t, []faultproxy.Action{faultproxy.CutBefore, faultproxy.CutAfter}, func(t *testing.T, r *rig, do faultproxy.Action) {
		r.latchesMayStay = true
		h := lock(t, r.open().NewLock(name), rlock.Lease(long))
		lost := r.Proxy.Add(faultproxy.Rule{Match: unlocks, Times: 1, Do: do})
		refused := r.Proxy.Add(faultproxy.Rule{Match: unlocks, Times: 1, Do: faultproxy.Answer,
			Reply: []byte("-NOPERM this user has no permissions to run the 'evalsha' command\r\n")})
		want(t, h.Unlock(t.Context()), rlock.ErrUncertain)
		if lost.Hits() != 1 || refused.Hits() != 1 {
			t.Errorf("%d were lost, %d refused", lost.Hits(), refused.Hits())
		}
	})
}

// The unlock waited behind a refused one of its owner, was sent at last, and gets no answer.
func TestR1UnlockBehindARefusedOneReturnsInTime(t *testing.T) {
	const command = 3 * time.Second
	const limit = 4*command + time.Second
	play(t, func(t *testing.T, r *rig) {
		r.latchesMayStay = true
		l := r.openWith("redis://"+r.Proxy.Addr(), command, nil).NewLock(name)
		outer := lock(t, l, rlock.Lease(long))
		inner := lock(t, l, rlock.As(outer.Owner()), rlock.Lease(long))
		var refused atomic.Value // the latch of the first
		ofTheFirst := func(cmd []string) bool {
			if !unlocks(cmd) {
				return false
			}
			refused.CompareAndSwap(nil, cmd[5])
			return refused.Load() == cmd[5]
		}
		refusal := r.Proxy.Add(faultproxy.Rule{Match: ofTheFirst, Do: faultproxy.Answer, Reply: []byte("-OOM command not allowed when used memory > 'maxmemory'.\r\n")})
		r.Proxy.Add(faultproxy.Rule{Match: func(cmd []string) bool { return unlocks(cmd) && !ofTheFirst(cmd) }, Do: faultproxy.DropReply})
		first := testbed.Begun(func() error { return inner.Unlock(t.Context()) })
		testbed.Receive(t, "the first unlock", refusal.Hit())
		<-time.After(command / 10) // its limit comes just before that of the second
		began := time.Now()
		second := testbed.Begun(func() error { return outer.Unlock(t.Context()) })
		if err := testbed.Receive(t, "the first Unlock returns", first); err == nil {
			t.Error("the first unlock was never answered, and says nothing of it")
		}
		err := testbed.Receive(t, "the second Unlock returns", second)
		if took := time.Since(began); err == nil || took > limit+latencies {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// UnlockAs waits for its owner's earlier command, here an unanswered unlock, as long as an unlock is repeated.
func TestR2UnlockAsBehindAnOpenCommandIsBounded(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		r.latchesMayStay = true
		l := r.open().NewLock(name)
		h := lock(t, l)
		end := r.outage()
		released := testbed.Begun(func() error { return h.Unlock(t.Context()) })
		testbed.Receive(t, "the hold ends", h.Done())
		began := time.Now()
		releasedAs := testbed.Begun(func() error { return l.UnlockAs(t.Context(), h.Owner()) })
		unsaid(t, testbed.Receive(t, "UnlockAs returns", releasedAs), "earlier command")
		if took, bound := time.Since(began), 4*timeout+time.Second; took > bound+latencies {
			t.Errorf("after %v, want no more than %v", took, bound)
		}
		want(t, testbed.Receive(t, "Unlock returns", released), rlock.ErrUncertain)
		end()
		r.connected(l)
	})
}

// The same without an earlier command: the server does not answer the question for the TTL.
func TestR2UnlockAsInAnOutageIsBounded(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open().NewLock(name)
		r.occupy(name)
		o := parse(t, stranger)
		end := r.outage()
		began := time.Now()
		released := testbed.Begun(func() error { return l.UnlockAs(t.Context(), o) })
		unsaid(t, testbed.Receive(t, "UnlockAs returns", released), "not released")
		if took, bound := time.Since(began), 4*timeout+time.Second; took > bound+latencies {
			t.Errorf("after %v, want no more than %v", took, bound)
		}
		end()
		r.connected(l)
		r.heldOnlyBy(name, o, 1)
	})
}
