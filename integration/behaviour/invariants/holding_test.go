package invariants

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// trusted is how long a lease is relied on: one percent is left for clocks that run at different rates.
func trusted(lease time.Duration) time.Duration { return lease - lease/100 }

// slack allows for reading two clocks one after the other, and for the way from the client to the proxy.
const slack = 50 * time.Millisecond

func TestH1TrustCountsFromTheSend(t *testing.T) {
	t.Parallel()
	const lease, delay = 10 * time.Second, 300 * time.Millisecond
	t.Run("of the acquire", func(t *testing.T) {
		play(t, func(t *testing.T, r *rig) {
			l := r.openSlow(rlock.WithWatchdogTimeout(lease)).NewLock(name)
			r.Proxy.Add(faultproxy.Rule{Match: acquires, Do: faultproxy.HoldReply, Delay: delay})
			for what, opts := range map[string][]rlock.AcquireOption{"watchdog": nil, "lease": {rlock.Lease(lease)}} {
				before := time.Now()
				h := lock(t, l, opts...)
				after, valid := time.Now(), h.ValidUntil()
				if late := after.Sub(before); late < delay {
					t.Fatalf("the reply was not late: %v", late)
				}
				if valid.After(after.Add(trusted(lease) - delay)) {
					t.Errorf("%s: valid for %v after a reply that was %v late", what, valid.Sub(after), delay)
				}
				if valid.Before(before.Add(trusted(lease) - slack)) {
					t.Errorf("%s: valid for only %v from the send", what, valid.Sub(before))
				}
				if valid.After(r.expires(name)) {
					t.Errorf("%s: valid until %v, the key lives until %v", what, valid, r.expires(name))
				}
				unlock(t, h)
			}
		})
	})
	t.Run("of the extension", func(t *testing.T) {
		play(t, func(t *testing.T, r *rig) {
			h := lock(t, r.openSlow().NewLock(name), rlock.Lease(time.Second))
			r.Proxy.Add(faultproxy.Rule{Match: renewals, Times: 1, Do: faultproxy.HoldReply, Delay: delay})
			if err := h.Extend(t.Context(), lease); err != nil {
				t.Fatal(err)
			}
			if valid, key := h.ValidUntil(), r.expires(name); valid.After(key) {
				t.Errorf("valid for %v more than the key lives", valid.Sub(key))
			}
		})
	})
	t.Run("of the renewal", func(t *testing.T) {
		play(t, func(t *testing.T, r *rig) {
			const lease = 6 * time.Second
			h := lock(t, r.openSlow(rlock.WithWatchdogTimeout(lease)).NewLock(name))
			first := h.ValidUntil()
			held := r.Proxy.Add(faultproxy.Rule{Match: renewals, Times: 1, Do: faultproxy.HoldReply, Delay: delay})
			testbed.Receive(t, "a renewal", held.Hit())
			r.Becomes("the renewal counts", func() bool { return h.ValidUntil().After(first.Add(slack)) })
			now, sent := time.Now(), r.of("renewal", name)[0].Sent
			if now.Sub(sent) < delay {
				t.Fatalf("the reply was not late")
			}
			if valid, most := h.ValidUntil(), sent.Add(trusted(lease)+time.Millisecond); valid.After(most) {
				t.Errorf("valid until %v after the most", valid.Sub(most))
			}
			unlock(t, h)
		})
	})
}

func TestH1LeaseIsInWholeMilliseconds(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open().NewLock(name)
		before := time.Now()
		h := lock(t, l, rlock.Lease(5*time.Second+999*time.Microsecond))
		after := time.Now()
		if lease := r.of("acquire", name)[0].lease; lease != 5*time.Second {
			t.Errorf("passed %v", lease)
		}
		if valid := h.ValidUntil(); valid.After(after.Add(trusted(5 * time.Second))) {
			t.Errorf("valid for %v", valid.Sub(before))
		}
		unlock(t, h)
	})
}

func TestH2FailedRenewalsAreRetriedWhileTrustLasts(t *testing.T) {
	t.Parallel()
	each(t, map[string]faultproxy.Rule{
		"refused":    {Do: faultproxy.Answer, Reply: []byte("-ERR not now\r\n")},
		"busy":       {Do: faultproxy.Answer, Reply: []byte("-BUSY script\r\n")},
		"read only":  {Do: faultproxy.Answer, Reply: []byte("-READONLY replica\r\n")},
		"not sent":   {Do: faultproxy.CutBefore},
		"cut after":  {Do: faultproxy.CutAfter},
		"no reply":   {Do: faultproxy.DropReply},
		"loading":    {Do: faultproxy.Answer, Reply: []byte("-LOADING wait\r\n")},
		"no master":  {Do: faultproxy.Answer, Reply: []byte("-MASTERDOWN gone\r\n")},
		"no script":  {Do: faultproxy.Answer, Reply: []byte("-NOSCRIPT none\r\n")},
		"odd answer": {Do: faultproxy.Answer, Reply: []byte("*1\r\n:2\r\n")},
	}, func(t *testing.T, r *rig, fault faultproxy.Rule) {
		const lease = 6 * time.Second
		h := lock(t, r.open(rlock.WithWatchdogTimeout(lease)).NewLock(name))
		fault.Match, fault.Times = renewals, 3
		if fault.Do == faultproxy.DropReply {
			fault.Times = 1 // trust does not last for more command timeouts
		}
		failing := r.Proxy.Add(fault)
		r.Becomes("all failures", func() bool { return failing.Hits() == fault.Times })
		failed := time.Now()
		r.Becomes("renewed after all", func() bool {
			if err := h.Err(); err != nil {
				t.Fatalf("lost by failures: %v", err)
			}
			return h.ValidUntil().After(failed.Add(trusted(lease) - slack))
		})
		r.heldOnlyBy(name, h.Owner(), 1)
		unlock(t, h)
	})
}

func TestH2SilenceIsALossOnlyWhenTrustEnds(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		const lease = 3 * time.Second
		h := lock(t, r.open(rlock.WithWatchdogTimeout(lease)).NewLock(name))
		r.Proxy.Freeze(true)
		defer r.Proxy.Freeze(false)
		for {
			before := time.Now()
			valid := h.ValidUntil()
			err := h.Err()
			if err != nil {
				want(t, err, rlock.ErrLeaseLost)
				if time.Now().Before(valid) {
					t.Errorf("lost %v before trust ended", time.Until(valid))
				}
				break
			}
			if before.After(valid.Add(time.Millisecond)) {
				t.Fatalf("held %v after trust ended", before.Sub(valid))
			}
			time.Sleep(100 * time.Microsecond)
		}
	})
}

func TestH2NotYoursIsALossAtOnce(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*rig){
		"gone":         func(r *rig) { r.Do("DEL", name) },
		"another's":    func(r *rig) { r.Do("DEL", name); r.occupy(name) },
		"flushed":      func(r *rig) { r.Do("FLUSHALL") },
		"foreign kept": func(r *rig) { r.Do("DEL", name); r.Do("HSET", name, "x", "y") },
	}, func(t *testing.T, r *rig, steal func(*rig)) {
		h := lock(t, r.open(rlock.WithWatchdogTimeout(3*time.Second)).NewLock(name))
		steal(r)
		testbed.Receive(t, "the loss", h.Done())
		want(t, h.Err(), rlock.ErrLeaseLost)
		asked := r.of("renewal", name)
		n := len(asked)
		if n == 0 {
			t.Fatal("lost without having asked")
		}
		for _, e := range r.Proxy.Record()[asked[0].at+1:] {
			if e.Cmd[0] == "EVALSHA" {
				t.Errorf("asked again before it was lost: %q", e.Cmd)
			}
		}
		err := h.Unlock(t.Context())
		want(t, err, rlock.ErrLeaseLost)
		want(t, err, rlock.ErrNotHeld)
		if got := len(r.of("renewal", name)); got != n {
			t.Errorf("%d renewals of a hold that was lost", got-n)
		}
	})
}

func TestH2PoisonedKeySpoilsNoOthersLease(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		const lease = 4 * time.Second
		c := r.open(rlock.WithWatchdogTimeout(lease))
		var holds []*rlock.Hold
		for i := range 20 {
			holds = append(holds, lock(t, c.NewLock(fmt.Sprint(name, i))))
		}
		poisoned := holds[7]
		r.Do("DEL", poisoned.Name())
		r.Do("SET", poisoned.Name(), "mine")
		began := time.Now()
		r.Becomes("two leases passed", func() bool {
			for _, h := range holds {
				if err := h.Err(); err != nil && h != poisoned {
					t.Fatalf("%s after %v: %v", h.Name(), time.Since(began), err)
				}
			}
			return time.Since(began) > 2*lease
		})
		want(t, poisoned.Err(), rlock.ErrLeaseLost)
		if v, err := r.Conn.Do("GET", poisoned.Name()); err != nil || string(v.([]byte)) != "mine" {
			t.Errorf("the key became %v, %v", v, err)
		}
		for _, h := range holds {
			if h != poisoned {
				r.heldOnlyBy(h.Name(), h.Owner(), 1)
				unlock(t, h)
			}
		}
	})
}

func TestH2ForgottenScriptsCostNoLease(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		const lease = 3 * time.Second
		h := lock(t, r.open(rlock.WithWatchdogTimeout(lease)).NewLock(name))
		began := time.Now()
		r.Becomes("two leases passed", func() bool {
			r.Do("SCRIPT", "FLUSH")
			want(t, h.Err(), nil)
			return time.Since(began) > 2*lease
		})
		if n := len(r.of("renewal", name)); n < 3 {
			t.Errorf("%d renewals", n)
		}
		r.LoadScripts()
		unlock(t, h)
	})
}

func TestH4HoldOutlivesTheContextThatBoundedTheWait(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		const lease = 3 * time.Second
		l := r.open(rlock.WithWatchdogTimeout(lease)).NewLock(name)
		type key struct{}
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "of the wait"), time.Minute)
		h, err := l.Lock(ctx)
		testbed.Must(t, err)
		held, free := h.Context(context.Background())
		defer free()
		cancel()
		if held.Value(key{}) != nil {
			t.Error("the hold's context knows the wait's values")
		}
		if _, ok := held.Deadline(); ok {
			t.Error("the hold's context has the wait's deadline")
		}
		r.lives(2*lease, h, held)
		r.heldOnlyBy(name, h.Owner(), 1)
		unlock(t, h)
		want(t, context.Cause(held), rlock.ErrReleased)
	})
}

// An Extend whose reply comes after the end of the current lease is too late. The hold is lost, and the error is the
// same as for any loss.
func TestExtensionAnsweredAfterTheLease(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		h := lock(t, r.openSlow().NewLock(name), rlock.Lease(2*time.Second))
		late := r.Proxy.Add(faultproxy.Rule{Match: renewals, Times: 1, Do: faultproxy.HoldReply})
		go func() {
			<-h.Done()
			late.Release()
		}()
		err := h.Extend(t.Context(), 10*time.Second)
		want(t, err, rlock.ErrLeaseLost)
		want(t, err, rlock.ErrNotHeld)
		want(t, h.Unlock(t.Context()), rlock.ErrLeaseLost)
	})
}
