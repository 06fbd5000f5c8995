package invariants

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// outage swallows all traffic until the returned function ends it.
func (r *rig) outage() (end func()) {
	r.Proxy.Blackhole(true)
	r.Proxy.Freeze(true)
	return func() {
		r.Proxy.Blackhole(false)
		r.Proxy.CutAll()
		r.Proxy.Freeze(false)
	}
}

// unsaid fails unless err contains words and says neither "taken" nor that something was sent.
func unsaid(t testing.TB, err error, words string) {
	t.Helper()
	wantNot(t, err, rlock.ErrLocked, rlock.ErrUncertain, context.DeadlineExceeded)
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("got error %v, want one that says %q", err, words)
	}
}

// The waiters behind the head have sent nothing, and the head's try has no answer.
func TestA6WaitBehindAnUnansweredHeadIsNotErrLocked(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.openSlow().NewLock(name)
		late := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.HoldReply})
		head := testbed.Enter(t.Context(), l)
		testbed.Receive(t, "the head's try", late.Hit())
		unsaid(t, tryFor(t, t.Context(), l, brief), "the wait elapsed")
		late.Release()
		h := granted(t, head)
		// Now no attempt is unanswered, and a new call gets its own answer.
		want(t, tryFor(t, t.Context(), l, brief), rlock.ErrLocked)
		unlock(t, h)
		r.Gone(name)
	})
}

// The same when the head's try was lost, and no call waits long enough.
func TestA7WhoWaitsBehindALostHeadIsNotUncertain(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open().NewLock(name)
		r.connected(l)
		lost := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.Blackhole})
		r.Proxy.Blackhole(true)
		head := testbed.Enter(t.Context(), l)
		testbed.Receive(t, "the head's try", lost.Hit())
		second := testbed.Enter(t.Context(), l)
		third := testbed.Acquire(func() (*rlock.Hold, error) { return l.TryLockFor(t.Context(), timeout*3/2) })
		want(t, testbed.Receive(t, "the head returns", head).Err, rlock.ErrUncertain)
		unsaid(t, testbed.Receive(t, "the second returns", second).Err, "never answered")
		unsaid(t, testbed.Receive(t, "the third returns", third).Err, "never answered")
		r.Proxy.Blackhole(false)
	})
}

// A try that could not be written before its wait ended did not run.
func TestA6WaitWithoutAConnectionIsNotUncertain(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.openSlow().NewLock(name)
		defer r.outage()()
		r.Proxy.CutAll()
		ctx, cancel := context.WithCancel(t.Context())
		asked := testbed.Begun(func() error { _, err := l.IsLocked(ctx); return err })
		r.Becomes("it dials", func() bool { return len(r.Proxy.Log()) > 1 })
		cancel()
		want(t, testbed.Receive(t, "IsLocked returns", asked), context.Canceled)
		for what, opts := range map[string][]rlock.AcquireOption{"queued": nil, "shared": {rlock.As(another(t, "1"))}} {
			t.Log(what)
			unsaid(t, tryFor(t, t.Context(), l, brief, opts...), "not sent")
		}
	})
}

// A re-entry waits for its owner's earlier command; the owner holds the lock all the time.
func TestA6ReentryBehindAnOpenCommandSaysWhatItWaitedFor(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.openSlow().NewLock(name)
		outer, late, released := r.unlockUnderWay(l, faultproxy.Rule{Do: faultproxy.HoldReply})
		tries := len(r.of("acquire", name))
		unsaid(t, tryFor(t, t.Context(), l, brief, rlock.As(outer.Owner())), "earlier command")
		late.Release()
		want(t, testbed.Receive(t, "Unlock returns", released), nil)
		if n := len(r.of("acquire", name)) - tries; n != 0 {
			t.Errorf("%d tries were sent", n)
		}
		want(t, outer.Err(), nil)
		r.heldOnlyBy(name, outer.Owner(), 1)
		unlock(t, outer)
	})
}

// The same without a wait: the call gets one command timeout.
func TestA5ReentryThatWasNeverSentIsNotUncertain(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		l := r.open().NewLock(name)
		h := lock(t, l, rlock.Lease(long))
		end := r.outage()
		extended := testbed.Begun(func() error { return h.Extend(t.Context(), long) })
		want(t, testbed.Receive(t, "Extend returns", extended), rlock.ErrUncertain)
		tries := len(r.of("acquire", name))
		began := time.Now()
		got := testbed.Receive(t, "TryLock returns", testbed.Acquire(func() (*rlock.Hold, error) { return l.TryLock(t.Context(), rlock.As(h.Owner())) }))
		unsaid(t, got.Err, "earlier command")
		if took := got.At.Sub(began); took > 4*timeout {
			t.Errorf("after %v, want a little more than %v", took, timeout)
		}
		end()
		r.connected(l)
		if n := len(r.of("acquire", name)) - tries; n != 0 {
			t.Errorf("%d tries were sent", n)
		}
		unlock(t, h)
	})
}

// Three callers wait as one owner, all answered "taken". The first enters and lets the others try, in an outage: one is
// sent and lost, and the other waits for that.
func TestA7ToldReentriesSurviveAnOutage(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.open()
		l, o := c.NewLock(name), c.NewOwner()
		r.occupy(name)
		var waiting [3]<-chan testbed.Entry
		for i := range waiting {
			waiting[i] = testbed.Enter(t.Context(), l, rlock.As(o))
			r.answered(name, 2+i) // the first of them tries once more when it is subscribed
		}
		r.connected(l) // replies come in order: now the client has read those answers too
		lost := r.Proxy.Add(faultproxy.Rule{Match: acquires, Skip: 1, Times: 1, Do: faultproxy.Blackhole})
		r.Proxy.Blackhole(true)
		r.vacate(name)
		first := granted(t, waiting[0])
		testbed.Receive(t, "a re-entry", lost.Hit())
		time.Sleep(4 * timeout)
		for i, w := range waiting[1:] {
			select {
			case got := <-w:
				t.Fatalf("waiter %d gave up: %v", i+1, got.Err)
			default:
			}
		}
		r.Proxy.Blackhole(false)
		r.Proxy.CutAll()
		second, third := granted(t, waiting[1]), granted(t, waiting[2])
		r.heldOnlyBy(name, o, 3)
		unlock(t, first, second, third)
		r.Gone(name)
	})
}

// The caller was answered "taken", but meanwhile its own owner got the lock: no other owner has it.
func TestA6ReentryOfAHolderIsNotErrLocked(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.openSlow()
		o := c.NewOwner()
		r.occupy(name)
		l := c.NewLock(name)
		head := testbed.Enter(t.Context(), l, rlock.As(o))
		r.answered(name, 2)
		got := testbed.Acquire(func() (*rlock.Hold, error) { return l.TryLockFor(t.Context(), 2*brief, rlock.As(o)) })
		r.answered(name, 3)
		late := r.Proxy.Add(faultproxy.Rule{Match: acquires, Skip: 1, Times: 1, Do: faultproxy.HoldReply})
		r.vacate(name)
		h := granted(t, head)
		testbed.Receive(t, "its re-entry", late.Hit())
		err := testbed.Receive(t, "TryLockFor returns", got).Err
		wantNot(t, err, rlock.ErrLocked)
		want(t, err, rlock.ErrUncertain)
		if h.Err() != nil {
			t.Error(h.Err())
		}
		late.Release()
		r.Becomes("given back", func() bool { return r.fields(name)[o.String()] == 1 })
		unlock(t, h)
		r.Gone(name)
	})
}

// The wait behind the owner's earlier command counts: a call that wrote nothing by then does not wait again for a
// connection.
func TestA7ReentryWaitsForOneTimeoutToBeSent(t *testing.T) {
	const command = 6 * time.Second
	play(t, func(t *testing.T, r *rig) {
		c := r.openWith("redis://"+r.Proxy.Addr(), command, nil)
		l, owner := c.NewLock(name), rlock.As(c.NewOwner())
		r.cutOff()
		r.Becomes("the client knows that it has no connection", func() bool {
			_, err := c.NewLock("others").TryLockFor(t.Context(), 200*time.Millisecond)
			return strings.Contains(err.Error(), "refused")
		})
		try := func() (*rlock.Hold, error) { return l.TryLock(t.Context(), owner) }
		first := testbed.Acquire(try)
		time.Sleep(command / 3)
		second, began := testbed.Acquire(try), time.Now()
		for _, got := range []<-chan testbed.Entry{first, second} {
			if err := testbed.Receive(t, "TryLock returns", got).Err; err == nil || errors.Is(err, rlock.ErrUncertain) || errors.Is(err, rlock.ErrLocked) {
				t.Error(err)
			}
		}
		if took := time.Since(began); took > command+latencies {
			t.Errorf("it took %v", took)
		}
	})
}
