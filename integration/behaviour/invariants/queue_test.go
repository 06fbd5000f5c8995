package invariants

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestA3OneAttemptInFlightAndConstantCommandsPerHandOff(t *testing.T) {
	perHandOff := map[int]float64{}
	for _, waiters := range []int{4, 64} {
		t.Run(fmt.Sprint(waiters), func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				r.occupy(name)
				// Late replies make an attempt that does not wait for another's answer visible.
				const delay = 2 * time.Millisecond
				r.Proxy.Add(faultproxy.Rule{Match: acquires, Do: faultproxy.HoldReply, Delay: delay})
				l := r.openSlow().NewLock(name)
				var all sync.WaitGroup
				for range waiters {
					all.Go(func() {
						h, err := l.Lock(t.Context())
						if err != nil {
							t.Error(err)
							return
						}
						want(t, h.Unlock(t.Context()), nil)
					})
				}
				r.Listeners(name, 1)
				r.Becomes("the queue has settled", func() bool { return len(r.of("acquire", name)) >= 2 })
				r.vacate(name)
				all.Wait()
				tries := r.of("acquire", name)
				oneAtATime(t, tries, delay)
				perHandOff[waiters] = float64(len(tries)) / float64(waiters)
				// One try that succeeds; after an unlock, the message may wake a waiter that has just tried.
				if perHandOff[waiters] > 3 {
					t.Errorf("%d tries for %d hand-offs", len(tries), waiters)
				}
			})
		})
	}
	if few, many := perHandOff[4], perHandOff[64]; many > few+0.5 {
		t.Errorf("%.2f tries a hand-off with 64 waiters, %.2f with 4", many, few)
	}
}

func TestA3MessageWakesTheHeadOnly(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		r.occupy(name)
		l := r.open().NewLock(name)
		ctx, cancel := context.WithCancel(t.Context())
		var waiting []<-chan testbed.Entry
		for range 30 {
			waiting = append(waiting, testbed.Enter(ctx, l))
		}
		r.answered(name, 2)
		for i := range 3 {
			r.publish(name, "0") // a message without a release
			r.Becomes("a try", func() bool { return len(r.of("acquire", name)) >= 3+i })
		}
		r.publish(name, "something else")
		cancel()
		for _, got := range waiting {
			want(t, testbed.Receive(t, "the waiter returns", got).Err, context.Canceled)
		}
		if n := len(r.of("acquire", name)); n != 5 {
			t.Errorf("%d tries for three messages, want 2+3", n)
		}
	})
}

func TestA3SharedOwnerAndTryLockDoNotQueueFirst(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.open()
		l := c.NewLock(name)
		h := lock(t, l)
		ctx, cancel := context.WithCancel(t.Context())
		var queue []<-chan testbed.Entry
		for range 5 {
			queue = append(queue, testbed.Enter(ctx, l))
		}
		r.Becomes("a queue", func() bool { return len(r.of("acquire", name)) >= 3 })
		again := lock(t, l, rlock.As(h.Owner()))
		r.heldOnlyBy(name, h.Owner(), 2)
		_, err := l.TryLock(t.Context())
		want(t, err, rlock.ErrLocked)
		_, err = l.TryLock(t.Context(), rlock.As(c.NewOwner()))
		want(t, err, rlock.ErrLocked)
		third, err := l.TryLock(t.Context(), rlock.As(h.Owner()))
		testbed.Must(t, err)
		cancel()
		for _, got := range queue {
			want(t, testbed.Receive(t, "a waiter returns", got).Err, context.Canceled)
		}
		unlock(t, third, again, h)
	})
}

func TestA3RefusedSharedOwnerQueuesBehindOthers(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.open()
		l := c.NewLock(name)
		r.occupy(name)
		first := testbed.Enter(t.Context(), l)
		r.answered(name, 2)
		second := testbed.Enter(t.Context(), l, rlock.As(c.NewOwner()))
		r.answered(name, 3)
		r.vacate(name)
		h := granted(t, first)
		select {
		case got := <-second:
			t.Fatalf("the second came in beside the first: %v", got.Err)
		default:
		}
		unlock(t, h)
		unlock(t, granted(t, second))
	})
}

func TestA3OwnerThatCameToHoldByAnotherCallIsLetThrough(t *testing.T) {
	t.Parallel()
	t.Run("from the queue", func(t *testing.T) {
		play(t, func(t *testing.T, r *rig) {
			c := r.open()
			l, o := c.NewLock(name), c.NewOwner()
			r.occupy(name)
			first := testbed.Enter(t.Context(), l, rlock.As(o))
			r.answered(name, 2)
			between := testbed.Enter(t.Context(), l)
			second := testbed.Enter(t.Context(), l, rlock.As(o))
			r.answered(name, 3)
			r.vacate(name)
			a, b := granted(t, first), granted(t, second)
			r.heldOnlyBy(name, o, 2)
			unlock(t, b, a)
			unlock(t, granted(t, between))
		})
	})
	t.Run("by TryLock", func(t *testing.T) {
		play(t, func(t *testing.T, r *rig) {
			c := r.open()
			l, o := c.NewLock(name), c.NewOwner()
			r.occupy(name)
			plain := testbed.Enter(t.Context(), l)
			r.answered(name, 2)
			waiting := testbed.Enter(t.Context(), l, rlock.As(o))
			r.answered(name, 3)
			r.Do("DEL", name) // no message: nobody is woken
			h, err := l.TryLock(t.Context(), rlock.As(o))
			testbed.Must(t, err)
			unlock(t, granted(t, waiting), h)
			unlock(t, granted(t, plain))
		})
	})
}
