package invariants

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// An Extend that did not run costs no trust: the client relies on the lease that the server still counts.
func TestH6ExtendThatDidNotRunCostsNoTrust(t *testing.T) {
	t.Parallel()
	const short = 3 * time.Second
	refusal := func(words string) func(*rig, *rlock.Lock) {
		return func(r *rig, _ *rlock.Lock) {
			r.Proxy.Add(faultproxy.Rule{Match: renewals, Do: faultproxy.Answer, Reply: []byte("-" + words + "\r\n")})
		}
	}
	unreachable := func(r *rig, l *rlock.Lock) {
		r.cutOff()
		if _, err := l.IsLocked(r.Context()); err == nil {
			r.Fatal("it can be reached")
		}
	}
	for what, c := range map[string]struct {
		timeout time.Duration // shorter than the refused lease, or longer
		trouble func(*rig, *rlock.Lock)
	}{
		"READONLY":           {timeout, refusal("READONLY You can't write against a read only replica.")},
		"READONLY, for long": {2 * short, refusal("READONLY You can't write against a read only replica.")},
		"OOM":                {timeout, refusal("OOM command not allowed when used memory > 'maxmemory'.")},
		"LOADING, for long":  {2 * short, refusal("LOADING Redis is loading the dataset in memory")},
		"WRONGTYPE":          {timeout, refusal("WRONGTYPE Operation against a key holding the wrong kind of value")},
		"not sent":           {timeout, unreachable},
		"not sent, for long": {2 * short, unreachable},
	} {
		t.Run(what, func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				l := r.openWith("redis://"+r.Proxy.Addr(), c.timeout, nil).NewLock(name)
				h := lock(t, l, rlock.Lease(long))
				promised := h.ValidUntil()
				c.trouble(r, l)
				began := time.Now()
				err := h.Extend(t.Context(), short)
				if err == nil || errors.Is(err, rlock.ErrUncertain) {
					t.Errorf("Extend: %v", err)
				}
				r.Becomes("the refused lease would be over", func() bool { return time.Since(began) > 2*short+c.timeout })
				want(t, h.Err(), nil)
				if valid := h.ValidUntil(); valid.Before(promised.Add(-latencies)) {
					t.Errorf("trusted for %v", time.Until(valid))
				}
			})
		})
	}
}

// After an Extend that may have run, the client trusts the shorter lease.
func TestH6ExtendThatMayHaveRunIsTrustedForTheShorterLease(t *testing.T) {
	t.Parallel()
	with(t, []faultproxy.Action{faultproxy.DropReply, faultproxy.CutAfter}, func(t *testing.T, r *rig, do faultproxy.Action) {
		h := lock(t, r.open().NewLock(name), rlock.Lease(long))
		fault := r.Proxy.Add(faultproxy.Rule{Match: renewals, Do: do})
		extended := testbed.Begun(func() error { return h.Extend(t.Context(), soon) })
		testbed.Receive(t, "the extension", fault.Hit())
		if left := time.Until(h.ValidUntil()); left > soon {
			t.Errorf("trusted for %v", left)
		}
		want(t, testbed.Receive(t, "Extend returns", extended), rlock.ErrUncertain)
		if valid := h.ValidUntil(); valid.After(r.expires(name)) {
			t.Errorf("trusted for %v", time.Until(valid))
		}
	})
}

// The client tries a refused command again after pauses, in which it renews the owner's other holds. A full server
// refuses what needs memory, but a renewal needs none.
func TestH6RefusedCommandLeavesRoomForRenewals(t *testing.T) {
	t.Parallel()
	const lease, command = 4 * time.Second, 3 * time.Second
	oom := []byte("-OOM command not allowed when used memory > 'maxmemory'.\r\n")
	unlockRefused := func(t *testing.T, refusal []byte) {
		play(t, func(t *testing.T, r *rig) {
			l := r.openWith("redis://"+r.Proxy.Addr(), command, []rlock.Option{rlock.WithWatchdogTimeout(lease)}).NewLock(name)
			outer := lock(t, l)
			inner := lock(t, l, rlock.As(outer.Owner()))
			full := r.Proxy.Add(faultproxy.Rule{Match: unlocks, Do: faultproxy.Answer, Reply: refusal})
			released := testbed.Begun(func() error { return inner.Unlock(t.Context()) })
			testbed.Receive(t, "the refusal", full.Hit())
			r.lives(2*lease, outer)
			full.Remove()
			want(t, testbed.Receive(t, "Unlock returns", released), nil)
			r.heldOnlyBy(name, outer.Owner(), 1)
			// The refusals are the proxy's; the server never answered them.
			oneAtATime(t, slices.DeleteFunc(r.steps(), func(s step) bool { return s.Answered.IsZero() }), 0)
			r.Becomes("renewed after that", func() bool {
				un := r.of("unlock", name)
				all := r.of("renewal", name)
				return all[len(all)-1].at > un[len(un)-1].at
			})
			unlock(t, outer)
			r.Gone(name)
		})
	}
	t.Run("unlock of a nested hold", func(t *testing.T) { unlockRefused(t, oom) })
	// READONLY makes the client give up the connection, which must not block the owner's command queue.
	t.Run("unlock of a nested hold, by READONLY", func(t *testing.T) {
		unlockRefused(t, []byte("-READONLY You can't write against a read only replica.\r\n"))
	})
	t.Run("extension", func(t *testing.T) {
		play(t, func(t *testing.T, r *rig) {
			l := r.openWith("redis://"+r.Proxy.Addr(), 2*lease, []rlock.Option{rlock.WithWatchdogTimeout(lease)}).NewLock(name)
			outer := lock(t, l)
			inner := lock(t, l, rlock.As(outer.Owner()), rlock.Lease(lease))
			// An extension is a renewal that passes another lease.
			full := r.Proxy.Add(faultproxy.Rule{Match: func(cmd []string) bool {
				return renewals(cmd) && !slices.Contains(cmd, "4000")
			}, Do: faultproxy.Answer, Reply: oom})
			if err := inner.Extend(t.Context(), time.Minute); err == nil || full.Hits() < 2 {
				t.Errorf("%v after %d refusals", err, full.Hits())
			}
			if err := outer.Err(); err != nil {
				t.Errorf("the outer hold: %v", err)
			}
			_ = inner.Unlock(t.Context())
			unlock(t, outer)
		})
	})
}

// A renewal from such a pause may be unanswered when the pause ends. The command waits for it.
func TestH6RefusedCommandWaitsForTheRenewalInItsPause(t *testing.T) {
	const lease, held = 6 * time.Second, 1500 * time.Millisecond // longer than any pause
	play(t, func(t *testing.T, r *rig) {
		l := r.openSlow(rlock.WithWatchdogTimeout(lease)).NewLock(name)
		outer := lock(t, l)
		inner := lock(t, l, rlock.As(outer.Owner()))
		full := r.Proxy.Add(faultproxy.Rule{Match: unlocks, Do: faultproxy.Answer, Reply: []byte("-LOADING wait\r\n")})
		renewal := r.Proxy.Add(faultproxy.Rule{Match: renewals, Times: 1, Do: faultproxy.HoldReply, Delay: held})
		released := testbed.Begun(func() error { return inner.Unlock(t.Context()) })
		testbed.Receive(t, "the renewal", renewal.Hit())
		full.Remove()
		want(t, testbed.Receive(t, "Unlock returns", released), nil)
		var last step
		for i, s := range r.steps() {
			if s.kind == "unlock" && i > 0 && last.kind == "renewal" && s.Sent.Before(last.Answered.Add(held)) {
				t.Error("the unlock did not wait for the renewal")
			}
			last = s
		}
		r.heldOnlyBy(name, outer.Owner(), 1)
		unlock(t, outer)
		r.Gone(name)
	})
}

// rigWithout starts a server with an account that may not send some commands, and returns the account's URL.
func rigWithout(t *testing.T, commands ...string) (*rig, string) {
	t.Parallel()
	account := redisserver.User{Name: "app", Password: "secret", Rules: []string{"~*", "&*", "+@all"}}
	for _, c := range commands {
		account.Rules = append(account.Rules, "-"+c)
	}
	r := rigOn(t, redisserver.ACL(t, account))
	r.latchesMayStay = true
	return r, "redis://app:secret@" + r.Proxy.Addr()
}

// An unlock that may not publish still releases, and keeps its result for a repetition. An unlock that finds neither a
// result nor a hold released nothing: the hold was over before.
func TestR1RepetitionThatFindsNothingIsNotHeldOnlyIfTheUnlockCouldRun(t *testing.T) {
	t.Parallel()
	for _, may := range []bool{false, true} {
		t.Run(fmt.Sprintf("may publish: %v", may), func(t *testing.T) {
			var not []string
			do := faultproxy.CutBefore
			if !may {
				not, do = []string{"publish"}, faultproxy.CutAfter
			}
			r, url := rigWithout(t, not...)
			h := lock(t, r.openAt(url).NewLock(name), rlock.Lease(long))
			_ = h.Owner().String() // from here on its unlock has a latch
			lost := r.Proxy.Add(faultproxy.Rule{Match: unlocks, Times: 1, Do: do})
			if may {
				r.Do("DEL", name)
			}
			if err := h.Unlock(t.Context()); may {
				want(t, err, rlock.ErrNotHeld)
			} else if err != nil {
				t.Error(err)
			}
			if lost.Hits() != 1 {
				t.Errorf("%d were lost", lost.Hits())
			}
			r.Gone(name)
		})
	}
}
