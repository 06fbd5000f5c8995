package invariants

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/rlock"
)

// outage swallows everything until the returned function ends it.
func (r *rig) outage() (end func()) {
	r.proxy.Blackhole(true)
	r.proxy.Freeze(true)
	return func() {
		r.proxy.Blackhole(false)
		r.proxy.CutAll()
		r.proxy.Freeze(false)
	}
}

// unsaid fails unless err says neither "taken" nor that something was sent.
func unsaid(t testing.TB, err error, words string) {
	t.Helper()
	wantNot(t, err, rlock.ErrLocked, rlock.ErrUncertain, context.DeadlineExceeded)
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("got error %v, want one that says %q", err, words)
	}
}

// Nothing of those who wait behind the head was sent, and nobody has answered the head.
func TestA6WaitBehindAnUnansweredHeadIsNotErrLocked(t *testing.T) {
	r := newRig(t)
	l := r.openSlow().NewLock(name)
	late := r.proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.HoldReply})
	head := locking(t.Context(), l)
	happens(t, "the head's try", late.Hit())
	unsaid(t, tryFor(t, t.Context(), l, brief), "the wait elapsed")
	late.Release()
	h := granted(t, head)
	// The answer came: who waits behind nobody now knows what it was.
	want(t, tryFor(t, t.Context(), l, brief), rlock.ErrLocked)
	unlock(t, h)
	r.gone(name)
}

// The same when the head's attempt was lost, and nobody's patience lasts.
func TestA7WhoWaitsBehindALostHeadIsNotUncertain(t *testing.T) {
	r := newRig(t)
	l := r.open().NewLock(name)
	if _, err := l.IsLocked(t.Context()); err != nil {
		t.Fatal(err)
	}
	lost := r.proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.Blackhole})
	r.proxy.Blackhole(true)
	head := locking(t.Context(), l)
	happens(t, "the head's try", lost.Hit())
	second := locking(t.Context(), l)
	third := calling(func() (*rlock.Hold, error) { return l.TryLockFor(t.Context(), timeout*3/2) })
	want(t, happens(t, "the head returns", head).err, rlock.ErrUncertain)
	unsaid(t, happens(t, "the second returns", second).err, "never answered")
	unsaid(t, happens(t, "the third returns", third).err, "never answered")
	r.proxy.Blackhole(false)
}

// A try that could not be written before its wait ended did not run.
func TestA6WaitWithoutAConnectionIsNotUncertain(t *testing.T) {
	r := newRig(t)
	l := r.openSlow().NewLock(name)
	defer r.outage()()
	r.proxy.CutAll()
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() {
		_, err := l.IsLocked(ctx)
		asked <- err
	}()
	r.becomes("it dials", func() bool { return len(r.proxy.Log()) > 1 })
	cancel()
	want(t, happens(t, "IsLocked returns", asked), context.Canceled)
	for what, opts := range map[string][]rlock.AcquireOption{"queued": nil, "shared": {rlock.As(owner(t, "1"))}} {
		t.Run(what, func(t *testing.T) { unsaid(t, tryFor(t, t.Context(), l, brief, opts...), "not sent") })
	}
}

func owner(t testing.TB, thread string) rlock.Owner {
	t.Helper()
	client, _, _ := strings.Cut(stranger, ":")
	o, err := rlock.ParseOwner(client + ":" + thread)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A re-entry waits for its owner's earlier command; the owner holds the lock all the time.
func TestA6ReentryBehindAnOpenCommandSaysWhatItWaitedFor(t *testing.T) {
	r := newRig(t)
	l := r.openSlow().NewLock(name)
	outer := lock(t, l)
	inner := lock(t, l, rlock.As(outer.Owner()))
	late := r.proxy.Add(faultproxy.Rule{Match: unlocks, Times: 1, Do: faultproxy.HoldReply})
	released := make(chan error, 1)
	go func() { released <- inner.Unlock(t.Context()) }()
	happens(t, "the unlock", late.Hit())
	tries := len(r.of("acquire", name))
	unsaid(t, tryFor(t, t.Context(), l, brief, rlock.As(outer.Owner())), "earlier command")
	late.Release()
	if err := happens(t, "Unlock returns", released); err != nil {
		t.Error(err)
	}
	if n := len(r.of("acquire", name)) - tries; n != 0 {
		t.Errorf("%d tries were sent", n)
	}
	if err := outer.Err(); err != nil {
		t.Error(err)
	}
	r.heldOnlyBy(name, outer.Owner(), 1)
	unlock(t, outer)
}

// The same without a wait: one command timeout is all it gets.
func TestA5ReentryThatWasNeverSentIsNotUncertain(t *testing.T) {
	r := newRig(t)
	l := r.open().NewLock(name)
	h := lock(t, l, rlock.Lease(long))
	end := r.outage()
	extended := make(chan error, 1)
	go func() { extended <- h.Extend(t.Context(), long) }()
	want(t, happens(t, "Extend returns", extended), rlock.ErrUncertain)
	tries := len(r.of("acquire", name))
	began := time.Now()
	got := happens(t, "TryLock returns", calling(func() (*rlock.Hold, error) { return l.TryLock(t.Context(), rlock.As(h.Owner())) }))
	unsaid(t, got.err, "earlier command")
	if took := got.at.Sub(began); took > 4*timeout {
		t.Errorf("after %v, want a little more than %v", took, timeout)
	}
	end()
	r.becomes("connected again", func() bool { _, err := l.IsLocked(t.Context()); return err == nil })
	if n := len(r.of("acquire", name)) - tries; n != 0 {
		t.Errorf("%d tries were sent", n)
	}
	unlock(t, h)
}

// sharing has three callers wait as one owner, all of them told "taken".
func (r *rig) sharing(c *rlock.Client, o rlock.Owner) (waiting [3]<-chan result) {
	r.Helper()
	r.occupy(name)
	l := c.NewLock(name)
	for i := range waiting {
		waiting[i] = locking(r.Context(), l, rlock.As(o))
		r.answered(name, 2+i) // the first of them looks once more when it is subscribed
	}
	// Replies come in order: now the client has read those answers as well.
	if _, err := l.IsLocked(r.Context()); err != nil {
		r.Fatal(err)
	}
	return waiting
}

// The first enters and lets the others through, into an outage: one of them is sent and lost, one waits for that.
func TestA7ToldReentriesSurviveAnOutage(t *testing.T) {
	r := newRig(t)
	c := r.open()
	o := c.NewOwner()
	waiting := r.sharing(c, o)
	lost := r.proxy.Add(faultproxy.Rule{Match: acquires, Skip: 1, Times: 1, Do: faultproxy.Blackhole})
	r.proxy.Blackhole(true)
	r.vacate(name)
	first := granted(t, waiting[0])
	happens(t, "a re-entry", lost.Hit())
	began := time.Now()
	r.becomes("several command timeouts passed", func() bool { return time.Since(began) > 4*timeout })
	for i, w := range waiting[1:] {
		select {
		case got := <-w:
			t.Fatalf("waiter %d gave up: %v", i+1, got.err)
		default:
		}
	}
	r.proxy.Blackhole(false)
	r.proxy.CutAll()
	second, third := granted(t, waiting[1]), granted(t, waiting[2])
	r.heldOnlyBy(name, o, 3)
	unlock(t, first, second, third)
	r.gone(name)
}

// Told "taken" long ago, and since then its owner came to hold the lock: it is not another's.
func TestA6ReentryOfAHolderIsNotErrLocked(t *testing.T) {
	r := newRig(t)
	c := r.openSlow()
	o := c.NewOwner()
	r.occupy(name)
	l := c.NewLock(name)
	head := locking(t.Context(), l, rlock.As(o))
	r.answered(name, 2)
	got := calling(func() (*rlock.Hold, error) { return l.TryLockFor(t.Context(), 2*stall, rlock.As(o)) })
	r.answered(name, 3)
	late := r.proxy.Add(faultproxy.Rule{Match: acquires, Skip: 1, Times: 1, Do: faultproxy.HoldReply})
	r.vacate(name)
	h := granted(t, head)
	happens(t, "its re-entry", late.Hit())
	err := happens(t, "TryLockFor returns", got).err
	wantNot(t, err, rlock.ErrLocked)
	want(t, err, rlock.ErrUncertain)
	if h.Err() != nil {
		t.Error(h.Err())
	}
	late.Release()
	r.becomes("given back", func() bool { return r.fields(name)[o.String()] == 1 })
	unlock(t, h)
	r.gone(name)
}

// Time spent behind its owner's earlier command counts: who had nothing written by then does not wait once more for a
// connection.
func TestA7ReentryWaitsForOneTimeoutToBeSent(t *testing.T) {
	const command = 6 * time.Second // more than what the machine is granted
	r := newRig(t)
	c := r.openWith("redis://"+r.proxy.Addr(), command, nil)
	l, owner := c.NewLock(name), rlock.As(c.NewOwner())
	r.proxy.Refuse(true)
	r.proxy.CutAll()
	r.becomes("the client knows that it has no connection", func() bool {
		_, err := c.NewLock("others").TryLockFor(t.Context(), 200*time.Millisecond)
		return strings.Contains(err.Error(), "refused")
	})
	try := func() (*rlock.Hold, error) { return l.TryLock(t.Context(), owner) }
	first := calling(try)
	began := time.Now()
	r.becomes("the first has waited for a while", func() bool { return time.Since(began) > command/3 })
	second, began := calling(try), time.Now()
	for _, got := range []<-chan result{first, second} {
		if err := happens(t, "TryLock returns", got).err; err == nil || errors.Is(err, rlock.ErrUncertain) || errors.Is(err, rlock.ErrLocked) {
			t.Error(err)
		}
	}
	if took := time.Since(began); took > command+stall {
		t.Errorf("it took %v", took)
	}
}
