package invariants

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestH3GrantWhoseTrustIsOverIsGivenBack(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.openSlow().NewLock(name)
		late := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.HoldReply})
		got := testbed.Enter(t.Context(), l, rlock.Lease(2*brief))
		testbed.Receive(t, "the acquire", late.Hit())
		// The server keeps the key for longer than the lease, as if its clock were slow.
		r.Becomes("granted", func() bool { return !r.Free(name) })
		r.Do("PEXPIRE", name, long.Milliseconds())
		time.Sleep(2 * brief) // the lease passes
		late.Release()
		res := testbed.Receive(t, "Lock returns", got)
		want(t, res.Err, rlock.ErrLeaseLost)
		if res.Hold != nil {
			t.Error("a hold beside the error")
		}
		r.Gone(name)
	})
}

// Only the late grant of the nested acquire is given back: the outer hold keeps its own.
func TestH3LateNestedGrantIsGivenBackAlone(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.openSlow().NewLock(name)
		outer := lock(t, l)
		r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.HoldReply, Delay: 200 * time.Millisecond})
		got := testbed.Receive(t, "Lock returns", testbed.Enter(t.Context(), l, rlock.As(outer.Owner()), rlock.Lease(100*time.Millisecond)))
		want(t, got.Err, rlock.ErrLeaseLost)
		r.Becomes("given back", func() bool { return r.fields(name)[outer.Owner().String()] == 1 })
		want(t, outer.Err(), nil)
		if valid, expires := outer.ValidUntil(), r.expires(name); valid.After(expires) {
			t.Errorf("trusted %v longer than the key lives", valid.Sub(expires))
		}
		unlock(t, outer)
		r.Gone(name)
	})
}

// If a look at the key finds that it has expired, an Err after it reports the loss.
func TestH3ErrIsNeverLate(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open().NewLock(name)
		for range 2 {
			h := lock(t, l, rlock.Lease(brief))
			valid := h.ValidUntil()
			var err error
			for samples := 0; err == nil; samples++ {
				time.Sleep(100 * time.Microsecond)
				expired := samples%64 == 0 && r.Free(name)
				now := time.Now()
				if err = h.Err(); err != nil {
					continue
				}
				if expired {
					t.Fatal("held by Err, gone from the server")
				}
				if now.After(valid.Add(time.Millisecond)) {
					t.Fatalf("nil %v after ValidUntil", now.Sub(valid))
				}
			}
			if now := time.Now(); now.Before(valid.Add(-time.Millisecond)) {
				t.Errorf("lost %v before ValidUntil", valid.Sub(now))
			}
			want(t, err, rlock.ErrLeaseLost)
			_ = h.Unlock(t.Context())
		}
	})
}

func TestH3LossIsToldOnceAndEverywhere(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		h := lock(t, r.open().NewLock(name), rlock.Lease(2*time.Second))
		ctx, cancel := h.Context(t.Context())
		defer cancel()
		valid, done := h.ValidUntil(), h.Done()
		testbed.Receive(t, "Done", done)
		if late := time.Since(valid); late > 5*time.Second || late < -time.Millisecond {
			t.Errorf("Done closed %v after ValidUntil", late)
		}
		testbed.Receive(t, "the derived context ends", ctx.Done())
		want(t, context.Cause(ctx), rlock.ErrLeaseLost)
		want(t, h.Err(), rlock.ErrLeaseLost)
		after, free := h.Context(t.Context())
		defer free()
		want(t, context.Cause(after), rlock.ErrLeaseLost)
		err := h.Unlock(t.Context())
		want(t, err, rlock.ErrLeaseLost)
		want(t, err, rlock.ErrNotHeld)
		want(t, h.Err(), rlock.ErrLeaseLost)
		want(t, h.Unlock(t.Context()), rlock.ErrReleased)
		if n := len(r.of("unlock", name)); n != 1 {
			t.Errorf("%d unlocks of a lost hold, want one", n)
		}
	})
}

// Err does not rely on the goroutine that watches the leases, which hardly gets to run here.
func TestH3ErrReadsTheClockItself(t *testing.T) {
	r := rigAlone(t)
	c := r.open()
	type watched struct {
		*rlock.Hold
		valid time.Time
	}
	var holds []watched
	for i := range 40 {
		h := lock(t, c.NewLock(fmt.Sprint(name, i)), rlock.Lease(2*time.Second+time.Duration(i)*5*time.Millisecond))
		w := watched{h, h.ValidUntil()}
		for range 3 { // a reading that was interrupted is early
			if valid := h.ValidUntil(); valid.After(w.valid) {
				w.valid = valid
			}
		}
		holds = append(holds, w)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var busy sync.WaitGroup
	defer busy.Wait()
	var stop atomic.Bool
	defer stop.Store(true)
	for range 4 {
		busy.Go(func() {
			for !stop.Load() {
			}
		})
	}
	for _, h := range holds {
		for {
			now := time.Now()
			err := h.Err()
			if err != nil {
				want(t, err, rlock.ErrLeaseLost)
				break
			}
			if late := now.Sub(h.valid); late > time.Millisecond {
				t.Fatalf("nil %v after ValidUntil", late)
			}
		}
	}
}

// After a loss of the server's data, a grant to another owner of the same client ends the first owner's holds.
func TestH3GrantToAnotherOwnerEndsTheFirst(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.openSlow()
		l := c.NewLock(name)
		for what, again := range map[string]func() (*rlock.Hold, error){
			"TryLock":    func() (*rlock.Hold, error) { return l.TryLock(t.Context()) },
			"Lock":       func() (*rlock.Hold, error) { return l.Lock(t.Context()) },
			"TryLockFor": func() (*rlock.Hold, error) { return l.TryLockFor(t.Context(), soon) },
			"As":         func() (*rlock.Hold, error) { return l.Lock(t.Context(), rlock.As(c.NewOwner())) },
		} {
			{
				t.Log(what)
				first := lock(t, l)
				nested := lock(t, l, rlock.As(first.Owner()), rlock.Lease(long))
				r.Do("FLUSHALL")
				second := granted(t, testbed.Acquire(again))
				for _, h := range []*rlock.Hold{first, nested} {
					want(t, h.Err(), rlock.ErrLeaseLost)
					testbed.Receive(t, "Done", h.Done())
				}
				want(t, second.Err(), nil)
				want(t, first.Unlock(t.Context()), rlock.ErrNotHeld)
				want(t, nested.Unlock(t.Context()), rlock.ErrNotHeld)
				r.heldOnlyBy(name, second.Owner(), 1)
				unlock(t, second)
				r.Gone(name)
			}
		}
		{ // a grant that nobody waits for any more
			first := lock(t, l)
			r.Do("FLUSHALL")
			r.LoadScripts()
			late := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.HoldReply})
			ctx, cancel := context.WithCancel(t.Context())
			got := testbed.Acquire(func() (*rlock.Hold, error) { return l.TryLock(ctx) })
			r.Becomes("granted", func() bool { return !r.Free(name) })
			cancel()
			want(t, testbed.Receive(t, "TryLock returns", got).Err, context.Canceled)
			want(t, first.Err(), nil)
			late.Release()
			testbed.Receive(t, "the first hold ends", first.Done())
			want(t, first.Err(), rlock.ErrLeaseLost)
			r.Gone(name)
		}
	})
}

// No message announces lost data. Waiters try again when a hold of their client turns out to be lost, or when the TTL
// that they last saw ends. A new caller tries at once.
func TestA2LostDataIsFoundByWhoWaits(t *testing.T) {
	t.Parallel()
	const lease = 4 * time.Second
	t.Run("by the holder's next renewal, in its client", func(t *testing.T) {
		play(t, func(t *testing.T, r *rig) {
			c := r.open(rlock.WithWatchdogTimeout(lease))
			l := c.NewLock(name)
			h := lock(t, l)
			// The TTL that the waiter gets is too long to make it try in time; the holder's next renewal does.
			late := r.Proxy.Add(faultproxy.Rule{Match: acquires, Do: faultproxy.Replace, Reply: []byte(":30000\r\n")})
			got := testbed.Enter(t.Context(), l)
			r.answered(name, 3) // the holder's, and the waiter's two
			late.Remove()
			r.Do("FLUSHALL")
			second := granted(t, got)
			want(t, h.Err(), rlock.ErrLeaseLost)
			r.heldOnlyBy(name, second.Owner(), 1)
			unlock(t, second)
		})
	})
	t.Run("by the end of the lease that it was told, in another client", func(t *testing.T) {
		play(t, func(t *testing.T, r *rig) {
			r.occupy(name)
			r.Do("PEXPIRE", name, lease.Milliseconds())
			got := testbed.Enter(t.Context(), r.open().NewLock(name))
			r.answered(name, 2)
			r.Do("FLUSHALL")
			lock(t, r.open().NewLock(name), rlock.Lease(lease/2)) // a new caller enters at once; its lease ends without a message
			unlock(t, granted(t, got))
		})
	})
}

// A forced unlock whose script must be loaded is sent twice. A grant between the two sends may be deleted by the
// second.
func TestH3GrantBeforeAForcedUnlockThatWasLoadedAndLostIsNotTrusted(t *testing.T) {
	t.Parallel()
	forces := testbed.Forces
	for what, row := range map[string]struct {
		do    faultproxy.Action
		reply string
		err   error // of the forced unlock
		kept  bool  // the key is known to exist
	}{
		"it ran, and its reply was lost":        {do: faultproxy.CutAfter, err: rlock.ErrUncertain},
		"it did not run, and nobody knows":      {do: faultproxy.CutBefore, err: rlock.ErrUncertain},
		"it ran, and its end was an error":      {do: faultproxy.Replace, reply: "-ERR The user may not access one of the channels\r\n"},
		"the server says that it would not run": {do: faultproxy.Answer, reply: "-LOADING wait\r\n", kept: true},
	} {
		t.Run(what, func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				l := r.openSlow().NewLock(name)
				unlock(t, lock(t, l)) // the connection stands
				r.Do("SCRIPT", "FLUSH")
				for _, s := range acquireScripts() {
					r.Do("SCRIPT", "LOAD", s.Source)
				}
				unknown := r.Proxy.Add(faultproxy.Rule{Match: forces, Times: 1, Do: faultproxy.HoldReply})
				r.Proxy.Add(faultproxy.Rule{Match: forces, Times: 1, Do: row.do, Reply: []byte(row.reply)})
				forced := testbed.Begun(func() error { _, err := l.ForceUnlock(t.Context()); return err })
				testbed.Receive(t, "the forced unlock is sent", unknown.Hit())
				got := testbed.Acquire(func() (*rlock.Hold, error) { return l.TryLock(t.Context()) })
				r.Becomes("granted behind it", func() bool { return !r.Free(name) })
				unknown.Release()
				h := granted(t, got)
				err := testbed.Receive(t, "ForceUnlock returns", forced)
				if err == nil || row.err != nil {
					want(t, err, row.err)
				}
				if row.kept {
					if err := h.Err(); err != nil {
						t.Errorf("nothing was deleted: %v", err)
					}
					unlock(t, h)
					return
				}
				want(t, h.Err(), rlock.ErrLeaseLost)
				want(t, h.Unlock(t.Context()), rlock.ErrLeaseLost)
				r.Gone(name)
			})
		})
	}
}
