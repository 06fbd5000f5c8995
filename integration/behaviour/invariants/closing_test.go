package invariants

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// Close takes about a command timeout at most, in whatever state the client is, and leaves nothing.
func TestE1CloseInEveryStateLeavesNothing(t *testing.T) {
	type state func(r *rig, c client) (undo func(), results []<-chan testbed.Entry)
	waiters := func(r *rig, c client) (results []<-chan testbed.Entry) {
		l := c.NewLock(name)
		for range 5 {
			results = append(results, testbed.Enter(context.Background(), l), testbed.Enter(context.Background(), l, rlock.As(c.NewOwner())))
			results = append(results, testbed.Acquire(func() (*rlock.Hold, error) { return l.TryLockFor(context.Background(), long) }))
		}
		return results
	}
	lockNow := func(r *rig, l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
		h, err := l.Lock(context.Background(), opts...)
		testbed.Must(r, err)
		return h
	}
	acquireWith := func(do faultproxy.Action) state {
		return func(r *rig, c client) (func(), []<-chan testbed.Entry) {
			r.latchesMayStay = true // the reply is given up only when Close's time is nearly over
			fault := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: do})
			got := testbed.Enter(context.Background(), c.NewLock(name))
			testbed.Receive(r, "the acquire", fault.Hit())
			return func() { fault.Release() }, []<-chan testbed.Entry{got}
		}
	}
	states := map[string]state{
		"fresh": func(*rig, client) (func(), []<-chan testbed.Entry) { return nil, nil },
		"holds": func(r *rig, c client) (func(), []<-chan testbed.Entry) {
			for i := range 5 {
				l := c.NewLock(fmt.Sprint("held", i))
				h := lockNow(r, l)
				if !r.kind.Strict {
					lockNow(r, l, rlock.As(h.Owner()), rlock.Lease(long))
				}
			}
			return nil, nil
		},
		"released a moment ago": func(r *rig, c client) (func(), []<-chan testbed.Entry) {
			for range 20 {
				unlock(r, lockNow(r, c.NewLock(name)))
			}
			return nil, nil
		},
		"waiters": func(r *rig, c client) (func(), []<-chan testbed.Entry) {
			r.occupy(name)
			results := waiters(r, c)
			r.Listeners(name, r.channels(len(results)))
			return nil, results
		},
		"subscribing": func(r *rig, c client) (func(), []<-chan testbed.Entry) {
			r.occupy(name)
			fault := r.Proxy.Add(faultproxy.Rule{Match: subscribe, Times: 1, Do: faultproxy.Withhold})
			results := waiters(r, c)
			testbed.Receive(r, "SUBSCRIBE", fault.Hit())
			return func() { fault.Release() }, results
		},
		"dialling a blackhole": func(r *rig, c client) (func(), []<-chan testbed.Entry) {
			r.Proxy.Blackhole(true)
			r.Proxy.CutAll()
			results := waiters(r, c)
			r.Becomes("it has dialled", func() bool { return len(r.Proxy.Log()) > 1 })
			return func() { r.Proxy.Blackhole(false) }, results
		},
		"nobody answers the port": func(r *rig, c client) (func(), []<-chan testbed.Entry) {
			r.cutOff()
			return func() { r.Proxy.Refuse(false) }, waiters(r, c)
		},
		"the acquire's reply is withheld": acquireWith(faultproxy.HoldReply),
		"the acquire's reply is dropped":  acquireWith(faultproxy.DropReply),
		"the acquire is withheld":         acquireWith(faultproxy.Withhold),
		"an undo is due and nobody answers the port": func(r *rig, c client) (func(), []<-chan testbed.Entry) {
			fault := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.HoldReply})
			got := testbed.Enter(context.Background(), c.NewLock(name))
			testbed.Receive(r, "the acquire", fault.Hit())
			r.cutOff()
			return func() { r.Proxy.Refuse(false) }, []<-chan testbed.Entry{got}
		},
		"a count is due and nobody answers the port": func(r *rig, c client) (func(), []<-chan testbed.Entry) {
			h := lockNow(r, c.NewLock(name))
			fault := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.HoldReply})
			again := testbed.Enter(context.Background(), c.NewLock(name), rlock.As(h.Owner()))
			testbed.Receive(r, "the acquire", fault.Hit())
			r.cutOff()
			return func() { r.Proxy.Refuse(false) }, []<-chan testbed.Entry{again}
		},
		"an unlock's reply is withheld": func(r *rig, c client) (func(), []<-chan testbed.Entry) {
			r.latchesMayStay = true
			h := lockNow(r, c.NewLock(name))
			fault := r.Proxy.Add(faultproxy.Rule{Match: unlocks, Times: 1, Do: faultproxy.HoldReply})
			got := testbed.Acquire(func() (*rlock.Hold, error) { return nil, h.Unlock(context.Background()) })
			testbed.Receive(r, "the unlock", fault.Hit())
			return func() { fault.Release() }, []<-chan testbed.Entry{got}
		},
		"a renewal's reply is withheld": func(r *rig, c client) (func(), []<-chan testbed.Entry) {
			lockNow(r, c.NewLock(name))
			fault := r.Proxy.Add(faultproxy.Rule{Match: renewals, Times: 1, Do: faultproxy.HoldReply})
			testbed.Receive(r, "the renewal", fault.Hit())
			return func() { fault.Release() }, nil
		},
		"the server stands still": func(r *rig, c client) (func(), []<-chan testbed.Entry) {
			lockNow(r, c.NewLock("held"))
			r.server.Pause()
			return r.server.Resume, waiters(r, c)
		},
	}
	for what, arrive := range states {
		t.Run(what, func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				c := r.openWith(r.URL(), timeout, []rlock.Option{rlock.WithWatchdogTimeout(2 * timeout)})
				undo, results := arrive(r, c)
				began := time.Now()
				var closers sync.WaitGroup
				for range 3 {
					closers.Go(func() {
						want(t, c.Close(), nil)
					})
				}
				closed := make(chan struct{})
				go func() { closers.Wait(); close(closed) }()
				testbed.Receive(t, "Close", closed)
				if took := time.Since(began); took > 2*timeout+latencies {
					t.Errorf("Close took %v", took)
				}
				for i, got := range results {
					select {
					case res := <-got:
						// A call that failed before Close may have another error.
						if res.Err != nil && res.At.After(began) {
							wantOneOf(t, res.Err, rlock.ErrClosed, rlock.ErrUncertain)
						}
						if res.Hold != nil {
							t.Errorf("call %d: a hold of a closed client", i)
						}
					case <-time.After(soon):
						t.Errorf("call %d is still blocked after Close", i)
					}
				}
				for _, conn := range r.Proxy.Log() {
					if conn.Open {
						r.Becomes("the proxy saw the close", func() bool { return !r.Proxy.Log()[conn.Number].Open })
					}
				}
				if undo != nil {
					undo()
				}
				c.Close()
			})
		})
	}
}

// Close gives back a lock that no caller got, if the server answers.
func TestE1CloseWaitsForWhatIsGivenBack(t *testing.T) {
	t.Parallel()
	with(t, []faultproxy.Action{faultproxy.CutAfter, faultproxy.HoldReply}, func(t *testing.T, r *rig, do faultproxy.Action) {
		c := r.openSlow()
		l := c.NewLock(name)
		fault := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: do, Delay: 100 * time.Millisecond})
		ctx, cancel := context.WithCancel(t.Context())
		got := testbed.Enter(ctx, l)
		testbed.Receive(t, "the acquire", fault.Hit())
		cancel()
		res := testbed.Receive(t, "Lock returns", got)
		if res.Err == nil {
			unlock(t, res.Hold)
		}
		c.Close()
		if !r.Free(name) {
			t.Errorf("Close left %v", r.fields(name))
		}
		if n := len(r.Latches()); n != 0 {
			t.Errorf("Close left %d latches", n)
		}
	})
}

func TestE1ClosedClientRefusesEverything(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.open()
		l := c.NewLock(name)
		h := lock(t, l, rlock.Lease(long))
		done := h.Done()
		ctx, cancel := h.Context(t.Context())
		defer cancel()
		want(t, c.Close(), nil)
		testbed.Receive(t, "the hold ends", done)
		want(t, h.Err(), rlock.ErrClosed)
		want(t, context.Cause(ctx), rlock.ErrClosed)
		if until := h.ValidUntil(); until.After(time.Now()) {
			t.Errorf("valid for another %v", time.Until(until))
		}
		r.heldOnlyBy(name, h.Owner(), 1) // left to expire
		before := len(r.Proxy.Record())
		o := c.NewOwner()
		for what, call := range map[string]func() error{
			"Lock":        func() error { _, err := l.Lock(t.Context()); return err },
			"TryLock":     func() error { _, err := l.TryLock(t.Context()); return err },
			"TryLockFor":  func() error { _, err := l.TryLockFor(t.Context(), time.Second); return err },
			"Do":          func() error { return l.Do(t.Context(), func(context.Context) error { t.Error("ran"); return nil }) },
			"new lock":    func() error { _, err := c.NewLock("new").TryLock(t.Context()); return err },
			"re-entry":    func() error { _, err := l.Lock(t.Context(), rlock.As(h.Owner())); return err },
			"Unlock":      func() error { return h.Unlock(t.Context()) },
			"Extend":      func() error { return h.Extend(t.Context(), time.Second) },
			"UnlockAs":    func() error { return l.UnlockAs(t.Context(), o) },
			"ForceUnlock": func() error { _, err := l.ForceUnlock(t.Context()); return err },
			"IsLocked":    func() error { _, err := l.IsLocked(t.Context()); return err },
			"IsHeldBy":    func() error { _, err := l.IsHeldBy(t.Context(), o); return err },
			"HoldCount":   func() error { _, err := l.HoldCount(t.Context(), o); return err },
			"RemainTTL":   func() error { _, err := l.RemainTTL(t.Context()); return err },
			"Info":        func() error { _, err := l.Info(t.Context()); return err },
		} {
			if err := call(); !anyOf(err, []error{rlock.ErrClosed}) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := errors.Join(c.Close(), c.Shutdown(t.Context())); err != nil {
			t.Errorf("once more: %v", err)
		}
		if n := len(r.Proxy.Record()); n != before {
			t.Errorf("%d commands of a closed client", n-before)
		}
	})
}

// The client holds nothing, but the server does not answer its undo or its renewal. Shutdown waits a bounded time.
func TestE1ShutdownOfAClientThatHoldsNothingIsBounded(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(r *rig, c client){
		"an undo can't be sent": func(r *rig, c client) {
			lost := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.Blackhole})
			r.Proxy.Blackhole(true)
			_, err := c.NewLock(name).TryLock(r.Context())
			want(r, err, rlock.ErrUncertain)
			testbed.Receive(r, "the try", lost.Hit())
		},
		"a renewal was lost, and its hold has ended": func(r *rig, c client) {
			h := lock(r, c.NewLock(name))
			lost := r.Proxy.Add(faultproxy.Rule{Match: renewals, Times: 1, Do: faultproxy.Blackhole})
			r.Proxy.Blackhole(true)
			testbed.Receive(r, "a renewal", lost.Hit())
			testbed.Receive(r, "the hold ends", h.Done())
		},
	}, func(t *testing.T, r *rig, state func(r *rig, c client)) {
		r.latchesMayStay = true
		c := r.open(rlock.WithWatchdogTimeout(4 * time.Second))
		r.connected(c.NewLock(name))
		state(r, c)
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		defer cancel()
		began := time.Now()
		want(t, c.Shutdown(ctx), nil)
		if took := time.Since(began); took > 4*timeout {
			t.Errorf("Shutdown took %v, want about %v", took, timeout)
		}
		r.Proxy.Blackhole(false)
	})
}

// The caller of an Unlock waits for it, and so does Shutdown.
func TestE1ShutdownWaitsForAnUnlockUnderWay(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.open()
		l := c.NewLock(name)
		h, others := lock(t, l), c.NewOwner()
		r.give("others", others.String(), r.kind.Mode == "write")
		r.cutOff()
		released := make(chan error, 2)
		go func() { released <- h.Unlock(t.Context()) }()
		go func() { released <- c.NewLock("others").UnlockAs(t.Context(), others) }()
		testbed.Receive(t, "the hold ends", h.Done())
		down := testbed.Begun(func() error { return c.Shutdown(t.Context()) })
		time.Sleep(2 * timeout)
		r.Proxy.Refuse(false)
		for range 2 {
			want(t, testbed.Receive(t, "an unlock returns", released), nil)
		}
		want(t, testbed.Receive(t, "Shutdown returns", down), nil)
		if !r.Free(name) || !r.Free("others") {
			t.Error("not released")
		}
	})
}
