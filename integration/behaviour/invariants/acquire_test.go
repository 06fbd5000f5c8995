package invariants

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

func TestA1UncontendedPathIsOneEvalshaAndNoSubscription(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open(rlock.WithCourtesy(false)).NewLock(name) // courtesy would ask for other waiters now and then
		connected := len(r.Proxy.Record())
		const rounds = 20
		for range rounds {
			h := lock(t, l)
			r.heldOnlyBy(name, h.Owner(), 1)
			unlock(t, h)
		}
		if n := len(r.of("acquire", name)); n != rounds {
			t.Errorf("%d acquires for %d locks", n, rounds)
		}
		if n := len(r.of("unlock", name)); n != rounds {
			t.Errorf("%d unlocks", n)
		}
		var sent []string
		for _, e := range r.Proxy.Record()[connected:] {
			if e.Cmd[0] != "DEL" { // of latches, where the kind has them
				sent = append(sent, e.Cmd[0])
			}
		}
		if want := slices.Repeat([]string{"EVALSHA"}, 2*rounds); !slices.Equal(sent, want) {
			t.Errorf("sent %v, want two scripts a round and nothing else", sent)
		}
		if n := len(r.Proxy.Log()); n != 1 {
			t.Errorf("%d connections where one is enough", n)
		}
	})
}

func TestA1NoScriptLoadsOnce(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.open()
		unlock(t, lock(t, c.NewLock("before")))
		for round := range 3 {
			r.Do("SCRIPT", "FLUSH")
			before := len(r.Proxy.Record())
			const callers = 100
			var all sync.WaitGroup
			holds := make(chan *rlock.Hold, callers)
			for i := range callers {
				all.Go(func() {
					h, err := c.NewLock(fmt.Sprintf("%d-%d", round, i)).Lock(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					holds <- h
				})
			}
			all.Wait()
			close(holds)
			loads := 0
			for _, e := range r.Proxy.Record()[before:] {
				if len(e.Cmd) == 3 && e.Cmd[0] == "SCRIPT" && slices.ContainsFunc(acquireScripts(), func(s *luasrc.Script) bool { return s.Source == e.Cmd[2] }) {
					loads++
				}
			}
			if loads != 1 {
				t.Errorf("round %d: the script was loaded %d times for %d callers", round, loads, callers)
			}
			for h := range holds {
				r.heldOnlyBy(h.Name(), h.Owner(), 1)
				unlock(t, h)
			}
		}
	})
}

func TestA2TriesAgainOnlyOnceTheSubscriptionIsConfirmed(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		r.occupy(name)
		confirm := r.Proxy.Add(faultproxy.Rule{Match: subscribe, Times: 1, Do: faultproxy.HoldReply})
		got := testbed.Enter(t.Context(), r.openSlow().NewLock(name))
		testbed.Receive(t, "SUBSCRIBE", confirm.Hit())
		r.Listeners(name, 1)
		if n := len(r.of("acquire", name)); n != 1 {
			t.Errorf("%d tries before the confirmation", n)
		}
		released := time.Now()
		confirm.Release()
		r.answered(name, 2)
		if second := r.of("acquire", name)[1]; second.Sent.Before(released) {
			t.Error("the second try did not wait for the confirmation")
		}
		r.vacate(name)
		unlock(t, granted(t, got))
		if n := len(r.of("acquire", name)); n != 3 {
			t.Errorf("%d tries; one before subscribing, one after, one for the message", n)
		}
		if r.Proxy.Count("SUBSCRIBE") != 1 {
			t.Errorf("%d SUBSCRIBE", r.Proxy.Count("SUBSCRIBE"))
		}
	})
}

func TestA2MessageBetweenTryAndSubscriptionIsNotMissed(t *testing.T) {
	t.Parallel()
	with(t, []faultproxy.Action{faultproxy.Withhold, faultproxy.HoldReply}, func(t *testing.T, r *rig, do faultproxy.Action) {
		r.occupy(name)
		late := r.Proxy.Add(faultproxy.Rule{Match: subscribe, Times: 1, Do: do})
		got := testbed.Enter(t.Context(), r.openSlow().NewLock(name))
		testbed.Receive(t, "SUBSCRIBE", late.Hit())
		refused := time.Now()
		r.vacate(name) // its message reaches nobody, or a client that does not know yet that it is subscribed
		late.Release()
		h := granted(t, got)
		if took := time.Since(refused); took > 800*time.Millisecond { // then it looks, subscribed or not
			t.Errorf("in %v after it was refused", took)
		}
		unlock(t, h)
	})
}

func TestA2WaitEndsWithTheLeaseThatPublishesNothing(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		r.occupy(name)
		r.Do("PEXPIRE", name, 3000)
		expires := r.expires(name)
		h := granted(t, testbed.Enter(t.Context(), r.open().NewLock(name)))
		if late := time.Since(expires); late > 5*time.Second {
			t.Errorf("in %v after the lease ended", late)
		}
		// One try before the subscription, one after it, one at the end of the PTTL; rounding may cost one or two more.
		if n := len(r.of("acquire", name)); n < 3 || n > 5 {
			t.Errorf("%d tries", n)
		}
		unlock(t, h)
	})
}

func TestA2ZeroPTTLDoesNotSpin(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		r.occupy(name)
		zero := r.Proxy.Add(faultproxy.Rule{Match: acquires, Do: faultproxy.Answer, Reply: []byte(":0\r\n")})
		began := time.Now()
		got := testbed.Enter(t.Context(), r.open().NewLock(name))
		r.Becomes("it tries for some time", func() bool { return time.Since(began) > 500*time.Millisecond && zero.Hits() >= 2 })
		if n, most := zero.Hits(), int(time.Since(began)/time.Millisecond)+3; n > most {
			t.Errorf("%d tries, want %d: at most one a millisecond", n, most)
		}
		zero.Remove()
		r.vacate(name)
		unlock(t, granted(t, got))
	})
}

func TestA2EndlessPTTLNeitherSpinsNorOverflows(t *testing.T) {
	t.Parallel()
	for _, pttl := range []string{"-1", "9223372036854775807", "9223372036854"} {
		t.Run(pttl, func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				r.occupy(name)
				odd := r.Proxy.Add(faultproxy.Rule{Match: acquires, Do: faultproxy.Answer, Reply: []byte(":" + pttl + "\r\n")})
				got := testbed.Enter(t.Context(), r.open().NewLock(name))
				r.Becomes("both tries", func() bool { return odd.Hits() >= 2 })
				time.Sleep(300 * time.Millisecond)
				if n := odd.Hits(); n != 2 {
					t.Errorf("%d tries, want one before and one after the subscription", n)
				}
				odd.Remove()
				r.vacate(name)
				unlock(t, granted(t, got))
			})
		})
	}
}

// A waiter must notice within a minute that a key without a TTL was deleted without a message.
func TestA2KeyWithoutTTLIsLookedAtAgain(t *testing.T) {
	if !*kinds {
		t.Skip("with -kinds only: the tests of package waitqueue have the minute in virtual time")
	}
	play(t, func(t *testing.T, r *rig) {
		r.occupy(name)
		r.Do("PERSIST", name)
		got := testbed.Enter(t.Context(), r.open().NewLock(name))
		r.answered(name, 2)
		r.Do("DEL", name)
		select {
		case res := <-got:
			if res.Err != nil {
				t.Fatal(res.Err)
			}
			unlock(t, res.Hold)
		case <-time.After(2 * time.Minute):
			t.Fatal("still waiting for a key that went without a word")
		}
	})
}
