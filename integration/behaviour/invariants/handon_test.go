package invariants

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// The head is cancelled at about the moment when the message arrives. Whichever comes first, the next waiter must not
// wait for the lease of a lock that is free.
func TestA3HeadThatGivesUpHandsItsWakeUpOn(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.openSlow().NewLock(name)
		outcomes := map[bool]int{}
		for i := range 150 {
			r.occupy(name)
			ctx, cancel := context.WithCancel(t.Context())
			first := testbed.Enter(ctx, l)
			r.Listeners(name, 1)
			second := testbed.Enter(t.Context(), l)
			spread := time.Duration(rand.N(int64(2 * time.Millisecond)))
			stop := make(chan struct{})
			go func() {
				defer close(stop)
				time.Sleep(spread)
				cancel()
			}()
			r.vacate(name)
			<-stop
			got := testbed.Receive(t, fmt.Sprintf("round %d: the head returns", i), first)
			outcomes[got.Err == nil] += 1
			if got.Err == nil {
				unlock(t, got.Hold)
			} else {
				want(t, got.Err, context.Canceled)
			}
			select {
			case next := <-second:
				if next.Err != nil {
					t.Fatal(next.Err)
				}
				unlock(t, next.Hold)
			case <-time.After(soon):
				t.Fatalf("round %d: the next was not woken (head cancelled %v after the message: %v)", i, spread, got.Err)
			}
			r.Gone(name)
		}
		t.Logf("the head got in %d times and gave up %d times", outcomes[true], outcomes[false])
	})
}

// The same at two moments that chance seldom hits: while the woken head's try, or its grant, is under way.
func TestA3HeadThatGivesUpDuringItsTryHandsItsWakeUpOn(t *testing.T) {
	t.Parallel()
	with(t, []faultproxy.Action{faultproxy.Withhold, faultproxy.HoldReply}, func(t *testing.T, r *rig, do faultproxy.Action) {
		r.occupy(name)
		l := r.openSlow().NewLock(name)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		first := testbed.Enter(ctx, l)
		r.answered(name, 2)
		second := testbed.Enter(t.Context(), l)
		woken := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: do})
		r.vacate(name)
		testbed.Receive(t, "the head's try", woken.Hit())
		cancel()
		want(t, testbed.Receive(t, "the head returns", first).Err, context.Canceled)
		woken.Release()
		h := granted(t, second)
		r.heldOnlyBy(name, h.Owner(), 1)
		unlock(t, h)
	})
}

// A message that arrives during the head's try sets the wait queue's flag, which stays set when the head leaves.
func TestA3MessageDuringTheHeadsTryOutlivesTheHead(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.openSlow().NewLock(name)
		for i := range 15 {
			cancel, first, second := r.twoWait(l)
			tries := len(r.of("acquire", name))
			held := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.HoldReply})
			r.publish(name, "0")
			testbed.Receive(t, "the head's try", held.Hit())
			r.answered(name, tries+1) // the answer is "taken", but the client has not got it yet
			r.leavesAboutTheMessage(time.Duration(i)*200*time.Microsecond, cancel, first)
			held.Release()
			unlock(t, granted(t, second))
			r.Gone(name)
		}
	})
}

// The head's try waits in the client behind commands with late replies. When it is taken back, the next waiter gets its
// wake-up.
func TestA3TryThatIsTakenBackHandsItsWakeUpOn(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.openSlow()
		l, o := c.NewLock(name), c.NewOwner()
		for i := range 15 {
			cancel, first, second := r.twoWait(l)
			held := r.Proxy.Add(faultproxy.Rule{Match: faultproxy.Command("HGET"), Times: 1, Do: faultproxy.HoldReply})
			var asking sync.WaitGroup
			for range 4 { // as many batches as can be in flight
				before := r.Proxy.Count("HGET")
				asking.Go(func() {
					if _, err := c.NewLock("other").HoldCount(t.Context(), o); err != nil {
						t.Error(err)
					}
				})
				r.Becomes("it was asked", func() bool { return r.Proxy.Count("HGET") > before })
			}
			r.leavesAboutTheMessage(time.Duration(i)*200*time.Microsecond, cancel, first)
			held.Release()
			unlock(t, granted(t, second))
			asking.Wait()
			r.Gone(name)
		}
	})
}

// twoWait has a stranger hold the lock and two wait for it: the head, whose context cancel ends, and the next.
func (r *rig) twoWait(l *rlock.Lock) (cancel context.CancelFunc, head, next <-chan testbed.Entry) {
	r.Helper()
	r.occupy(name)
	before := len(r.of("acquire", name))
	ctx, cancel := context.WithCancel(r.Context())
	head = testbed.Enter(ctx, l)
	r.answered(name, before+2)
	return cancel, head, testbed.Enter(r.Context(), l)
}

// leavesAboutTheMessage releases the stranger's lock and ends the head's context at a moment about when the message arrives.
func (r *rig) leavesAboutTheMessage(moment time.Duration, cancel context.CancelFunc, head <-chan testbed.Entry) {
	r.Helper()
	r.vacate(name)
	time.Sleep(moment)
	cancel()
	want(r, testbed.Receive(r, "the head returns", head).Err, context.Canceled)
}

// messages counts what was published to clients behind the proxy.
func (r *rig) messages() (n int) {
	for _, e := range r.Proxy.Record() {
		if items, ok := e.Reply.([]any); ok && e.Cmd == nil && len(items) == 3 && items[0] == "message" {
			n++
		}
	}
	return n
}
