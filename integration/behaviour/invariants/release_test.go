package invariants

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// An unlock whose reply is lost is sent again with its latch, after the kill barrier, and counts once.
func TestR1LostUnlockReplyCountsOnce(t *testing.T) {
	t.Parallel()
	for _, do := range []faultproxy.Action{faultproxy.CutAfter, faultproxy.DropReply, faultproxy.CutBefore} {
		for n := range 6 {
			count, shared := 1+n/2, n%2 == 1
			t.Run(fmt.Sprintf("%v of %d, by latch %v", do, count, shared), func(t *testing.T) {
				play(t, func(t *testing.T, r *rig) {
					l := r.open().NewLock(name)
					holds := []*rlock.Hold{lock(t, l)}
					o := holds[0].Owner()
					if shared {
						_ = o.String()
					}
					for len(holds) < count {
						holds = append(holds, lock(t, l, rlock.As(o)))
					}
					r.Proxy.Add(faultproxy.Rule{Match: unlocks, Times: 1, Do: do})
					unlock(t, holds[count-1])
					if count == 1 {
						if !r.Free(name) {
							t.Errorf("left %v", r.fields(name))
						}
					} else {
						r.heldOnlyBy(name, o, count-1)
					}
					sends := r.of("unlock", name)
					if len(sends) != 2 || sends[0].latch != sends[1].latch || shared != (sends[0].latch != "") {
						t.Fatalf("sent %+v, want the same twice", sends)
					}
					r.killed(sends[0].Conn, sends[1].at)
					r.latchesGo()
					for i := count - 2; i >= 0; i-- {
						unlock(t, holds[i])
					}
					r.Gone(name)
				})
			})
		}
	}
}

func TestR1SeveralLostRepliesCountOnce(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open().NewLock(name)
		a := lock(t, l)
		b := lock(t, l, rlock.As(a.Owner()))
		r.Proxy.Add(faultproxy.Rule{Match: unlocks, Times: 4, Do: faultproxy.CutAfter})
		unlock(t, b)
		r.heldOnlyBy(name, a.Owner(), 1)
		unlock(t, a)
		r.Gone(name)
	})
}

// The first send's bytes arrive after the second was answered, before the client gets that answer or later.
func TestR1WithheldUnlockDoesNotCountTwice(t *testing.T) {
	t.Parallel()
	t.Run("killed", func(t *testing.T) {
		play(t, func(t *testing.T, r *rig) {
			l := r.open().NewLock(name)
			a, late, released := r.unlockUnderWay(l, faultproxy.Rule{Do: faultproxy.Withhold})
			r.Proxy.CutAll()
			want(t, testbed.Receive(t, "Unlock returns", released), nil)
			r.latchesGo()
			if n := late.Release(); n != 0 {
				t.Error("it ran after the kill barrier")
			}
			r.heldOnlyBy(name, a.Owner(), 1)
			unlock(t, a)
		})
	})
	for _, at := range []string{"at once", "later"} {
		t.Run("not killed, "+at, func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				url := r.without("client|kill")
				l := r.openAt(url).NewLock(name)
				rule := faultproxy.Rule{Do: faultproxy.Withhold}
				if at == "at once" {
					rule.Until = unlocks
				}
				a, late, released := r.unlockUnderWay(l, rule)
				r.Proxy.CutAll()
				want(t, testbed.Receive(t, "Unlock returns", released), nil)
				if at == "later" {
					// By now a deletion of the latch would have come; in its own test it takes 5 ms.
					c2 := r.open()
					for range 3 {
						unlock(t, lock(t, c2.NewLock("other")))
					}
					if n := late.Release(); n != 1 {
						t.Error("it did not run; nothing is shown by this test")
					}
				} else {
					r.Becomes("both ran", func() bool {
						sends := r.of("unlock", name)
						return len(sends) == 2 && !sends[0].Answered.IsZero() && !sends[1].Answered.IsZero()
					})
				}
				r.heldOnlyBy(name, a.Owner(), 1)
				sends := r.of("unlock", name)
				if ttl := r.Number("PTTL", sends[0].latch); ttl <= 0 {
					t.Errorf("the latch that still was needed has a PTTL of %d", ttl)
				}
				unlock(t, a)
				r.Gone(name)
				for _, e := range r.Proxy.Record() {
					if len(e.Cmd) > 1 && strings.EqualFold(e.Cmd[0], "DEL") {
						for _, key := range e.Cmd[1:] {
							if key == sends[0].latch {
								t.Error("the latch of a connection that was not killed was deleted")
							}
						}
					}
				}
			})
		})
	}
}

func TestR1LatchIsFreshForEachUnlockAndDeleted(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open().NewLock(name)
		seen := map[string]bool{}
		for range 20 {
			a := lock(t, l)
			_ = a.Owner().String()
			unlock(t, lock(t, l, rlock.As(a.Owner())), a)
		}
		for _, s := range r.of("unlock", name) {
			if seen[s.latch] || len(s.latch) != len("redisson_unlock_latch:{"+name+"}:")+32 {
				t.Errorf("latch %q", s.latch)
			}
			seen[s.latch] = true
		}
		if len(seen) != 40 {
			t.Errorf("%d latches for 40 unlocks", len(seen))
		}
		r.latchesGo()
	})
}

// Without any answer Unlock returns when trust ends, or after a command timeout if that is later, and its error says that the outcome is open.
func TestR1SilenceIsUncertainInBoundedTime(t *testing.T) {
	t.Parallel()
	for what, lease := range map[string]time.Duration{"trust ends": 5 * time.Second, "the latch's time ends": long} {
		t.Run(what, func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				r.latchesMayStay = true
				c := r.open()
				h := lock(t, c.NewLock(name), rlock.Lease(lease))
				valid := h.ValidUntil()
				r.server.Pause()
				began := time.Now()
				released := testbed.Begun(func() error { return h.Unlock(context.Background()) })
				err := testbed.Receive(t, "Unlock returns", released)
				took := time.Since(began)
				r.server.Resume()
				want(t, err, rlock.ErrUncertain)
				wantNot(t, err, rlock.ErrNotHeld)
				want(t, h.Err(), rlock.ErrReleased)
				if what == "trust ends" && began.Add(took).After(valid.Add(timeout+latencies)) {
					t.Errorf("it went on for %v after trust ended", time.Since(valid))
				}
				for _, s := range r.of("unlock", name) {
					if what == "trust ends" && s.Sent.After(valid.Add(latencies)) {
						t.Errorf("sent %v after trust ended", s.Sent.Sub(valid))
					}
				}
				if n := len(r.of("unlock", name)); n == 0 {
					t.Error("never sent")
				}
			})
		})
	}
}

// The other holds have the lease that the first send set, however late the answer comes.
func TestR1TrustOfTheRestCountsFromTheFirstSend(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		const lease = 30 * time.Second
		l := r.open(rlock.WithWatchdogTimeout(lease)).NewLock(name)
		a := lock(t, l)
		b := lock(t, l, rlock.As(a.Owner()))
		r.Proxy.Add(faultproxy.Rule{Match: unlocks, Times: 2, Do: faultproxy.DropReply})
		unlock(t, b)
		sends := r.of("unlock", name)
		if len(sends) != 3 || sends[2].Sent.Sub(sends[0].Sent) < timeout {
			t.Fatalf("sent %d times within %v", len(sends), sends[len(sends)-1].Sent.Sub(sends[0].Sent))
		}
		valid := a.ValidUntil()
		if most := sends[0].Sent.Add(trusted(lease) + time.Millisecond); valid.After(most) {
			t.Errorf("trusted %v too long", valid.Sub(most))
		}
		if expires := r.expires(name); valid.After(expires) {
			t.Errorf("trusted %v longer than the key lives", valid.Sub(expires))
		}
		unlock(t, a)
	})
}

// The port refuses connections for longer than a command timeout. Nothing was sent, so the unlock is sent later.
func TestR1UnlockThatCouldNotBeSentIsSentLater(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open().NewLock(name)
		h := lock(t, l)
		r.cutOff()
		released := testbed.Begun(func() error { return h.Unlock(context.Background()) })
		time.Sleep(2 * timeout)
		r.Proxy.Refuse(false)
		want(t, testbed.Receive(t, "Unlock returns", released), nil)
		if !r.Free(name) {
			t.Errorf("left %v", r.fields(name))
		}
	})
}

// If the reply of a release with AtLeast is lost, it counts once: the repetition does not free the lock.
func TestR4LostReleaseThatLeavesTheLockCountsOnce(t *testing.T) {
	t.Parallel()
	keeps := faultproxy.Script(luasrc.UnlockKeepScript.SHA1)
	for _, shown := range []bool{false, true} {
		with(t, []faultproxy.Action{faultproxy.CutAfter, faultproxy.DropReply, faultproxy.CutBefore}, func(t *testing.T, r *rig, do faultproxy.Action) {
			l := r.open().NewLock(name)
			h := lock(t, l, rlock.AtLeast(time.Minute))
			if shown {
				_ = h.Owner().String()
			}
			r.Proxy.Add(faultproxy.Rule{Match: keeps, Times: 2, Do: do})
			unlock(t, h)
			if n := r.Number("PTTL", name); n <= 50_000 || n > 60_000 {
				t.Errorf("it lives for %d ms", n)
			}
			if _, err := r.open().NewLock(name).TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
				t.Errorf("another comes in: %v", err)
			}
			if err := h.Err(); !errors.Is(err, rlock.ErrReleased) {
				t.Errorf("the hold: %v", err)
			}
			if n := r.Number("HLEN", name); n != 1 {
				t.Errorf("%d owners", n)
			}
		})
	}
}
