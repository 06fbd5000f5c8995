package invariants

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// ways are calls that succeed despite a lost reply if the server answers again within the command timeout.
var ways = map[string]func(context.Context, *rlock.Lock) (*rlock.Hold, error){
	"Lock":       func(ctx context.Context, l *rlock.Lock) (*rlock.Hold, error) { return l.Lock(ctx) },
	"TryLock":    func(ctx context.Context, l *rlock.Lock) (*rlock.Hold, error) { return l.TryLock(ctx) },
	"TryLockFor": func(ctx context.Context, l *rlock.Lock) (*rlock.Hold, error) { return l.TryLockFor(ctx, long) },
}

func TestA5LostAcquireIsSentAgain(t *testing.T) {
	t.Parallel()
	for way, acquire := range ways {
		t.Run(way, func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				l := r.open().NewLock(name)
				r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.CutAfter})
				h := granted(t, testbed.Acquire(func() (*rlock.Hold, error) { return acquire(t.Context(), l) }))
				r.heldOnlyBy(name, h.Owner(), 1)
				first, repeated := r.of("acquire", name), r.of("again", name)
				if len(first) != 1 || len(repeated) != 1 || first[0].owners[0] != h.Owner().String() || repeated[0].owners[0] != first[0].owners[0] {
					t.Fatalf("acquires %+v, sent again %+v, for a hold of %v", first, repeated, h.Owner())
				}
				if undos := r.of("unlock", name); len(undos) > 0 {
					t.Errorf("undone by %+v", undos)
				}
				r.killed(first[0].Conn, repeated[0].at)
				unlock(t, h)
				r.Gone(name)
			})
		})
	}
}

// The client gives up the connection of an acquire in flight. The server must not run the bytes that arrive later.
func TestA5WithheldAcquireNeverRuns(t *testing.T) {
	t.Parallel()
	for way, acquire := range ways {
		t.Run(way, func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				l := r.open().NewLock(name)
				late := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.Withhold})
				got := testbed.Acquire(func() (*rlock.Hold, error) { return acquire(t.Context(), l) })
				testbed.Receive(t, "the acquire", late.Hit())
				r.Proxy.CutAll()
				h := granted(t, got)
				tries, repeated := r.of("acquire", name), r.of("again", name)
				if len(tries) != 1 || len(repeated) != 1 || repeated[0].owners[0] != tries[0].owners[0] {
					t.Fatalf("acquires %v, sent again %v", tries, repeated)
				}
				r.killed(tries[0].Conn, repeated[0].at)
				unlock(t, h)
				r.Gone(name)
				if n := late.Release(); n != 0 {
					t.Errorf("the withheld acquire ran")
				}
				if !r.Free(name) {
					t.Errorf("the late acquire left %v", r.fields(name))
				}
			})
		})
	}
}

// If the first reply is withheld for the whole command timeout, the call ends (A7), and the acquire is undone.
func TestA5AcquireThatTimedOutIsUndone(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open().NewLock(name)
		r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.DropReply})
		got := testbed.Receive(t, "Lock returns", testbed.Enter(t.Context(), l))
		if got.Err == nil {
			unlock(t, got.Hold)
		} else {
			want(t, got.Err, rlock.ErrUncertain)
		}
		r.Gone(name)
		tries, undos := r.of("acquire", name), r.of("unlock", name)
		if undos[0].owners[0] != tries[0].owners[0] {
			t.Errorf("undone %v instead of %v", undos[0].owners, tries[0].owners)
		}
		r.killed(tries[0].Conn, undos[0].at)
		unlock(t, lock(t, l))
		r.neverSentAgain(name)
	})
}

// A wait that was answered once survives lost replies.
func TestA5WaiterGetsInAfterALostReply(t *testing.T) {
	t.Parallel()
	with(t, []faultproxy.Action{faultproxy.CutAfter, faultproxy.DropReply, faultproxy.CutBefore}, func(t *testing.T, r *rig, do faultproxy.Action) {
		r.occupy(name)
		got := testbed.Enter(t.Context(), r.open().NewLock(name))
		r.answered(name, 2)
		r.Proxy.Add(faultproxy.Rule{Match: faultproxy.Any(acquires, again), Times: 3, Do: do})
		r.vacate(name)
		h := granted(t, got)
		r.heldOnlyBy(name, h.Owner(), 1)
		unlock(t, h)
		r.Gone(name)
		r.neverSentAgain(name)
	})
}

func TestA5SharedOwnersCountIsExactAfterALostReply(t *testing.T) {
	t.Parallel()
	for _, do := range []faultproxy.Action{faultproxy.CutAfter, faultproxy.CutBefore, faultproxy.Withhold} {
		for held := range 3 {
			t.Run(do.String()+", "+[]string{"new", "once", "twice"}[held], func(t *testing.T) {
				play(t, func(t *testing.T, r *rig) {
					c := r.open()
					l, o := c.NewLock(name), c.NewOwner()
					var holds []*rlock.Hold
					for range held {
						holds = append(holds, lock(t, l, rlock.As(o)))
					}
					fault := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: do})
					got := testbed.Enter(t.Context(), l, rlock.As(o))
					testbed.Receive(t, "the acquire", fault.Hit())
					if do == faultproxy.Withhold {
						r.Proxy.CutAll()
					}
					holds = append(holds, granted(t, got))
					r.heldOnlyBy(name, o, held+1)
					for _, undo := range r.of("unlock", name) {
						if undo.latch != "" {
							t.Errorf("an own owner was undone with a latch")
						}
					}
					fault.Release()
					r.heldOnlyBy(name, o, held+1)
					for _, h := range slices.Backward(holds) {
						want(t, h.Err(), nil)
						unlock(t, h)
					}
					r.Gone(name)
				})
			})
		}
	}
}

func TestA5ForeignOwnerIsUncertain(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open().NewLock(name)
		o := parse(t, stranger)
		r.occupy(name) // by the stranger, once, in another process
		r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.CutAfter})
		got := testbed.Receive(t, "Lock returns", testbed.Enter(t.Context(), l, rlock.As(o)))
		want(t, got.Err, rlock.ErrUncertain)
		if got.Hold != nil {
			t.Error("a hold beside the error")
		}
		r.heldOnlyBy(name, o, 2) // the client must not guess whose holds they are
		if n := len(r.of("acquire", name)); n != 1 {
			t.Errorf("sent %d times", n)
		}
	})
}

// Another client may hold as an owner that this client gave away. Its hold must not pass for a lost acquire that ran.
func TestA5HoldOfAnotherClientIsNotUndone(t *testing.T) {
	t.Parallel()
	for what, hand := range map[string]func(*testing.T, rlock.Owner) rlock.Owner{
		"handed over as a string":        func(t *testing.T, o rlock.Owner) rlock.Owner { return parse(t, o.String()) },
		"handed over within the process": func(_ *testing.T, o rlock.Owner) rlock.Owner { return o },
	} {
		for _, do := range []faultproxy.Action{faultproxy.CutBefore, faultproxy.CutAfter} {
			for held := range 2 {
				t.Run(what+", "+do.String()+", "+[]string{"not held here", "held here"}[held], func(t *testing.T) {
					play(t, func(t *testing.T, r *rig) {
						a, b := r.open(), r.open()
						o := a.NewOwner()
						var holds []*rlock.Hold
						for range held {
							holds = append(holds, lock(t, a.NewLock(name), rlock.As(o)))
						}
						holds = append(holds, lock(t, b.NewLock(name), rlock.As(hand(t, o))))
						r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: do})
						got := testbed.Receive(t, "Lock returns", testbed.Enter(t.Context(), a.NewLock(name), rlock.As(o)))
						want(t, got.Err, rlock.ErrUncertain)
						count := held + 1
						if do == faultproxy.CutAfter {
							count++
						}
						r.heldOnlyBy(name, o, count)
						unlock(t, holds...)
					})
				})
			}
		}
	}
}

// Even if others use the owner, a count of no more than this client's own holds proves that the acquire did not run.
func TestA5CountOfWhatIsKnownIsDecided(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open().NewLock(name)
		o := parse(t, stranger)
		for held := range 3 {
			r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.CutBefore})
			h := granted(t, testbed.Enter(t.Context(), l, rlock.As(o)))
			r.heldOnlyBy(name, o, held+1)
			defer unlock(t, h)
		}
	})
}

// The count proves nothing between the loss of a nested hold, by its own lease, and its unlock: the server still counts
// that hold, but this client does not.
func TestA5LostHoldDoesNotDeceiveTheCount(t *testing.T) {
	t.Parallel()
	with(t, []faultproxy.Action{faultproxy.CutAfter, faultproxy.CutBefore}, func(t *testing.T, r *rig, do faultproxy.Action) {
		c := r.open()
		l, o := c.NewLock(name), c.NewOwner()
		outer := lock(t, l, rlock.As(o))
		inner := lock(t, l, rlock.As(o), rlock.Lease(2*time.Second))
		testbed.Receive(t, "the inner lease ends", inner.Done())
		r.heldOnlyBy(name, o, 2)
		r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: do})
		got := testbed.Receive(t, "Lock returns", testbed.Enter(t.Context(), l, rlock.As(o)))
		count := 2
		if do == faultproxy.CutAfter || got.Err == nil {
			count = 3
		}
		if got.Err != nil {
			want(t, got.Err, rlock.ErrUncertain)
		}
		r.heldOnlyBy(name, o, count)
		if err := outer.Err(); err != nil {
			t.Errorf("the outer hold: %v", err)
		}
	})
}

// The caller of a re-entry leaves while it is sent again, and that is lost too. Its undo is repeated for a limited time, and leaves
// the owner's other hold.
func TestA5UndoOfAReentryLeavesTheOuterHold(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open(rlock.WithWatchdogTimeout(long)).NewLock(name)
		outer := lock(t, l)
		r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.CutAfter})
		repeated := r.Proxy.Add(faultproxy.Rule{Match: again, Times: 1, Do: faultproxy.HoldReply})
		ctx, cancel := context.WithCancel(t.Context())
		got := testbed.Enter(ctx, l, rlock.As(outer.Owner()))
		testbed.Receive(t, "the repetition", repeated.Hit())
		r.Becomes("it ran", func() bool { return !r.of("again", name)[0].Answered.IsZero() })
		if n := r.fields(name)[r.holder(name)]; n != 2 {
			t.Errorf("it holds %d times", n)
		}
		cancel()
		want(t, testbed.Receive(t, "Lock returns", got).Err, context.Canceled)
		r.cutOff()
		time.Sleep(4*timeout + time.Second) // the undo is repeated for this long
		r.Proxy.Refuse(false)
		r.connected(l)
		// The same owner's next command waits for all that is still sent about the lost one.
		inner, err := l.TryLock(t.Context(), rlock.As(outer.Owner()))
		testbed.Must(t, err)
		if err := outer.Err(); err != nil {
			t.Errorf("the outer hold: %v", err)
		}
		unlock(t, inner)
		if n := r.fields(name)[r.holder(name)]; n < 1 {
			t.Errorf("it holds %d times", n)
		}
		unlock(t, outer) // takes what the undo left
		r.Gone(name)
	})
}

// A server may close an idle connection at any time. No call may fail because of that, whether the client has seen the
// close or not.
func TestA5IdleCloseIsNobodysError(t *testing.T) {
	t.Parallel()
	for _, notice := range []time.Duration{0, 3 * time.Millisecond} {
		t.Run(fmt.Sprint("noticed for ", notice), func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				r.latchesMayStay = true // the server may close a connection with their DEL on it
				c := r.openSlow()
				l := c.NewLock(name)
				idleClose := func() {
					r.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
					time.Sleep(notice)
				}
				for i := range 50 {
					idleClose()
					h, err := l.Lock(t.Context())
					if err != nil {
						t.Fatalf("%d: Lock: %v", i, err)
					}
					idleClose()
					if locked, err := l.IsLocked(t.Context()); err != nil || !locked {
						t.Fatalf("%d: IsLocked: %v, %v", i, locked, err)
					}
					idleClose()
					if err := h.Unlock(t.Context()); err != nil {
						t.Fatalf("%d: Unlock: %v", i, err)
					}
					if !r.Free(name) {
						t.Fatalf("%d: left %v", i, r.fields(name))
					}
					idleClose()
					if h, err = l.TryLock(t.Context()); err != nil {
						t.Fatalf("%d: TryLock: %v", i, err)
					}
					r.heldOnlyBy(name, h.Owner(), 1)
					idleClose()
					again, err := l.Lock(t.Context(), rlock.As(h.Owner()))
					if err != nil {
						t.Fatalf("%d: Lock with As: %v", i, err)
					}
					r.heldOnlyBy(name, h.Owner(), 2)
					unlock(t, again, h)
				}
			})
		})
	}
}

// The same with the server's own idle timeout.
func TestA5ServersIdleTimeoutIsNobodysError(t *testing.T) {
	r := newRig(t)
	l := r.openSlow().NewLock(name)
	for range 2 {
		h := lock(t, l)
		before := r.Connections()
		r.Do("CONFIG", "SET", "timeout", 3) // the rig must not be idle that long
		// The client may have another connection already: it renews its holds at once.
		r.Becomes("the server closed the client's connection", func() bool { return r.Clients() == 0 || r.Connections() > before })
		r.Do("CONFIG", "SET", "timeout", 0)
		want(t, h.Unlock(t.Context()), nil)
	}
}
