package invariants

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// The context ends while the acquire passes the proxy, so before there can be a grant.
func TestA4CancellationBeatsASimultaneousGrant(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open().NewLock(name)
		for range 60 {
			ctx, cancel := context.WithCancel(t.Context())
			passing := r.Proxy.Add(faultproxy.Rule{Times: 1, Do: faultproxy.HoldReply, Delay: time.Microsecond,
				Match: func(cmd []string) bool {
					if !acquires(cmd) {
						return false
					}
					cancel()
					return true
				}})
			got := testbed.Receive(t, "Lock returns", testbed.Enter(ctx, l))
			want(t, got.Err, context.Canceled)
			if got.Hold != nil {
				t.Fatal("a hold beside the error")
			}
			testbed.Receive(t, "the acquire passed", passing.Hit())
			r.Gone(name)
		}
	})
}

// spin waits without sleeping, so that no other goroutine of this thread runs.
func spin(d time.Duration) {
	for at := time.Now().Add(d); time.Now().Before(at); {
	}
}

// Many grants arrive together, and the first caller that runs cancels the context of all. Later callers find both their
// grant and the cancellation. The few that looked before it may keep the lock.
func TestA4ContextThatEndsBetweenGrantAndReturnWins(t *testing.T) {
	r := rigAlone(t)
	// On one thread, no other caller can look between the first caller's grant and its cancel, as it could if the machine
	// paused the first one's thread.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	c := r.openWith(r.server.URL(), patient, nil)
	kept := 0
	const rounds, callers = 10, 200
	for round := range rounds {
		ctx, cancel := context.WithCancel(t.Context())
		r.server.Pause()
		var all sync.WaitGroup
		for range 4 { // as many batches as can be in flight; what comes now goes in one
			all.Go(func() { c.NewLock("other").IsLocked(context.Background()) })
			spin(2 * time.Millisecond)
		}
		holds := make(chan *rlock.Hold, callers)
		for i := range callers {
			all.Go(func() {
				h, err := c.NewLock(fmt.Sprint(round, "-", i)).Lock(ctx)
				cancel()
				if err != nil {
					want(t, err, context.Canceled)
					return
				}
				holds <- h
			})
		}
		spin(10 * time.Millisecond)
		r.server.Resume()
		all.Wait()
		cancel()
		close(holds)
		kept += len(holds)
		for h := range holds {
			unlock(t, h)
		}
		r.Becomes("what was given back is gone", func() bool { return r.keys() == 0 })
	}
	if kept > 3*rounds {
		t.Errorf("%d of %d callers got a hold of a context that was over", kept, rounds*callers)
	}
}

// Chance decides here: a caller that gets a hold has the lock, one that gets an error leaves nothing.
func TestA4CancellationNearTheGrantLeavesAHoldOrNothing(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open().NewLock(name)
		outcomes := map[bool]int{}
		for i := range 200 {
			ctx, cancel := context.WithCancel(t.Context())
			got := testbed.Enter(ctx, l)
			time.Sleep(time.Duration(i) * 10 * time.Microsecond)
			cancel()
			res := testbed.Receive(t, "Lock returns", got)
			outcomes[res.Err == nil]++
			if res.Err == nil {
				r.heldOnlyBy(name, res.Hold.Owner(), 1)
				unlock(t, res.Hold)
			} else {
				want(t, res.Err, context.Canceled)
			}
			r.Gone(name)
		}
		t.Logf("%d holds, %d cancelled", outcomes[true], outcomes[false])
	})
}

// A context may end during any step of an acquire. The call returns the context's error at once. After the fault the
// client has left no key, and renews none.
func TestA4ContextThatEndsAtAnyStepLeavesNothing(t *testing.T) {
	t.Parallel()
	type arrangement func(*rig) (reached <-chan struct{}, end func())
	taken := func(arrange arrangement) arrangement {
		return func(r *rig) (<-chan struct{}, func()) {
			r.occupy(name)
			reached, end := arrange(r)
			return reached, func() { end(); r.vacate(name) }
		}
	}
	hold := func(match faultproxy.Match, skip int, do faultproxy.Action) arrangement {
		return func(r *rig) (<-chan struct{}, func()) {
			h := r.Proxy.Add(faultproxy.Rule{Match: match, Skip: skip, Times: 1, Do: do})
			return h.Hit(), func() { h.Release() }
		}
	}
	steps := map[string]arrangement{
		"the acquire's bytes are under way":         hold(acquires, 0, faultproxy.Withhold),
		"the acquire's reply is under way":          hold(acquires, 0, faultproxy.HoldReply),
		"the acquire's reply is lost":               hold(acquires, 0, faultproxy.DropReply),
		"SUBSCRIBE is under way":                    taken(hold(subscribe, 0, faultproxy.Withhold)),
		"SUBSCRIBE's reply is under way":            taken(hold(subscribe, 0, faultproxy.HoldReply)),
		"the second try's bytes are under way":      taken(hold(acquires, 1, faultproxy.Withhold)),
		"the second try's reply is under way":       taken(hold(acquires, 1, faultproxy.HoldReply)),
		"the server keeps a dialled connection mum": nil,
		"nobody answers the port":                   nil,
		"waiting for the message":                   nil,
		"behind another waiter":                     nil,
	}
	for step, arrange := range steps {
		for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
			t.Run(step+", "+end.Error(), func(t *testing.T) {
				play(t, func(t *testing.T, r *rig) {
					c := r.openSlow(rlock.WithWatchdogTimeout(long))
					l := c.NewLock(name)
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if end == context.DeadlineExceeded {
						ctx, cancel = context.WithTimeout(t.Context(), 2*brief)
						defer cancel()
					}
					var over func()
					var reached <-chan struct{}
					var got <-chan testbed.Entry
					if arrange != nil {
						reached, over = arrange(r)
						got = testbed.Enter(ctx, l)
					} else {
						now := make(chan struct{})
						reached = now
						switch step {
						case "the server keeps a dialled connection mum":
							r.Proxy.Blackhole(true)
							r.Proxy.CutAll()
							over = func() { r.Proxy.Blackhole(false) }
							got = testbed.Enter(ctx, l)
						case "nobody answers the port":
							r.cutOff()
							over = func() { r.Proxy.Refuse(false) }
							got = testbed.Enter(ctx, l)
						case "waiting for the message":
							r.occupy(name)
							over = func() { r.vacate(name) }
							got = testbed.Enter(ctx, l)
							r.answered(name, 2)
						default:
							r.occupy(name)
							first, leave := context.WithCancel(t.Context())
							defer leave()
							testbed.Enter(first, l)
							r.answered(name, 2)
							got = testbed.Enter(ctx, l)
							over = func() { leave(); r.vacate(name) }
						}
						close(now)
					}
					testbed.Receive(t, step, reached)
					if end == context.Canceled {
						cancel()
					}
					ended := time.Now()
					if at, ok := ctx.Deadline(); ok {
						ended = at
					}
					res := testbed.Receive(t, "Lock returns", got)
					want(t, res.Err, end)
					wantNot(t, res.Err, rlock.ErrLocked)
					if late := res.At.Sub(ended); late > patient/2 {
						t.Errorf("it took %v", late)
					}
					over()
					r.Gone(name)
					// An undo that comes later than this would meet this owner's key.
					h := lock(t, r.open().NewLock(name))
					// Closing the client that gave up must not touch the key.
					closed := testbed.Begun(c.Close)
					want(t, testbed.Receive(t, "Close", closed), nil)
					r.heldOnlyBy(name, h.Owner(), 1)
					unlock(t, h)
					r.neverSentAgain(name)
				})
			})
		}
	}
}

// The re-entry's command waits behind an earlier one of the same owner, and is never sent.
func TestA4ContextThatEndsInItsOwnersLaneChangesNoCount(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.openSlow().NewLock(name)
		outer, late, released := r.unlockUnderWay(l, faultproxy.Rule{Do: faultproxy.HoldReply})
		ctx, cancel := context.WithTimeout(t.Context(), brief)
		defer cancel()
		got := testbed.Receive(t, "Lock returns", testbed.Enter(ctx, l, rlock.As(outer.Owner())))
		want(t, got.Err, context.DeadlineExceeded)
		late.Release()
		want(t, testbed.Receive(t, "Unlock returns", released), nil)
		again := lock(t, l, rlock.As(outer.Owner()))
		r.heldOnlyBy(name, outer.Owner(), 2)
		if n := len(r.of("acquire", name)); n != 3 {
			t.Errorf("%d acquires", n)
		}
		unlock(t, again, outer)
		r.Gone(name)
	})
}

func TestA4ContextThatIsOverSendsNothing(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.open()
		l := c.NewLock(name)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		before := len(r.Proxy.Record())
		for what, call := range map[string]func() (*rlock.Hold, error){
			"Lock":       func() (*rlock.Hold, error) { return l.Lock(ctx) },
			"TryLock":    func() (*rlock.Hold, error) { return l.TryLock(ctx) },
			"TryLockFor": func() (*rlock.Hold, error) { return l.TryLockFor(ctx, time.Second) },
			"as":         func() (*rlock.Hold, error) { return l.Lock(ctx, rlock.As(c.NewOwner())) },
		} {
			h, err := call()
			if h != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v, %v", what, h, err)
			}
		}
		if sent := r.Proxy.Record()[before:]; len(sent) != 0 {
			t.Errorf("sent %v", sent)
		}
	})
}
