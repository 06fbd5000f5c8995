package waitqueue

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
)

const (
	us      = time.Microsecond
	ms      = time.Millisecond
	timeout = 3 * time.Second
	lease   = 30 * time.Second
)

// maxHandOffs is the number in the rules that a new rig's queue follows.
var maxHandOffs = kind.Reentrant.Traits().HandOffs

var errNet = errors.New("the network is away")

// rig drives a queue as its caller does, with a clock that the test moves. It stands for the timer, the hub and the
// server, and keeps each attempt until the test answers it.
type rig struct {
	t   *testing.T
	q   Queue
	now time.Duration

	subscribed bool
	subs       int           // subscriptions so far
	timer      time.Duration // 0: not set
	attempts   []*Waiter     // under way, in order
	handed     *Waiter       // the waiter whose attempt last followed an unlock
	ended      map[*Waiter]Reason
	err        map[*Waiter]error
	dropped    bool
	led        func() // called when the queue's attempt is made; may be nil
}

func newRig(t *testing.T) *rig {
	return &rig{
		t: t, now: time.Hour, ended: map[*Waiter]Reason{}, err: map[*Waiter]error{},
		q: New(timeout, func(n time.Duration) time.Duration { return n - 1 }),
	}
}

// run takes the actions that are due after an event.
func (r *rig) run() {
	r.t.Helper()
	for a := r.q.Next(r.now); a.Do != Nothing; a = r.q.Next(r.now) {
		if r.dropped {
			r.t.Fatalf("action %d after nothing was left", a.Do)
		}
		switch a.Do {
		case Attempt:
			if slices.Contains(r.attempts, a.Waiter) || a.Waiter.Settled {
				r.t.Fatalf("a second attempt for one waiter, or one for a waiter that left")
			}
			r.attempts = append(r.attempts, a.Waiter)
			if r.led != nil && r.q.leading == a.Waiter {
				r.led()
			}
			if r.q.leading == a.Waiter && r.q.handedOn {
				r.handed = a.Waiter
			}
		case Settle:
			if why, twice := r.ended[a.Waiter]; twice {
				r.t.Fatalf("ended twice, %v and %v", why, a.Why)
			}
			r.ended[a.Waiter], r.err[a.Waiter] = a.Why, a.Err
		case Subscribe:
			if r.subscribed {
				r.t.Fatal("subscribed twice")
			}
			r.subscribed = true
			r.subs++
		case Unsubscribe:
			if !r.subscribed {
				r.t.Fatal("unsubscribed from nothing")
			}
			r.subscribed = false
		case SetTimer:
			r.timer = a.At
		case StopTimer:
			r.timer = 0
		case Drop:
			if r.timer != 0 || r.subscribed || r.q.Len() > 0 {
				r.t.Fatalf("dropped with a timer %v, a subscription %v, %d waiters", r.timer, r.subscribed, r.q.Len())
			}
			r.dropped = true
		}
	}
}

// does reports an event and takes the actions that follow.
func (r *rig) does(event func()) *rig {
	r.t.Helper()
	r.dropped = false
	event()
	r.run()
	return r
}

// joins adds waiters to the queue.
func (r *rig) joins(n int) []*Waiter {
	r.t.Helper()
	var ws []*Waiter
	for range n {
		w := new(Waiter)
		r.does(func() { r.q.Join(r.now, w, false) })
		ws = append(ws, w)
	}
	return ws
}

// tries adds an unqueued waiter.
func (r *rig) tries(w *Waiter) *Waiter {
	r.t.Helper()
	r.does(func() { r.q.JoinUnqueued(r.now, w) })
	return w
}

func (r *rig) answered(w *Waiter) {
	r.t.Helper()
	i := slices.Index(r.attempts, w)
	if i < 0 {
		r.t.Fatal("no attempt of it is under way")
	}
	r.attempts = slices.Delete(r.attempts, i, i+1)
}

func (r *rig) granted(w *Waiter) {
	r.t.Helper()
	r.answered(w)
	r.does(func() { r.q.Granted(r.now, w, lease) })
}

func (r *rig) refused(w *Waiter, ttl time.Duration) {
	r.t.Helper()
	r.answered(w)
	r.does(func() { r.q.Refused(r.now, w, ttl) })
}

// troubled fails w's attempt, which was made at this moment.
func (r *rig) troubled(w *Waiter) {
	r.t.Helper()
	r.answered(w)
	r.does(func() { r.q.Troubled(r.now, w, errNet, r.now) })
}

func (r *rig) unsent(w *Waiter) {
	r.t.Helper()
	r.answered(w)
	r.does(func() { r.q.Unsent(w) })
}

// opens loses an attempt that was made at this moment; resolves reports that it was undone.
func (r *rig) opens(w *Waiter) { r.does(func() { r.q.Open(r.now, w, errNet, r.now, false) }) }

func (r *rig) resolves(w *Waiter) {
	r.t.Helper()
	r.answered(w)
	r.does(func() { r.q.Resolved(w) })
}

func (r *rig) confirmed() { r.does(r.q.Confirmed) }
func (r *rig) message()   { r.does(func() { r.q.Message(r.now, 1) }) }

// messageAfter lets time pass before a release's message.
func (r *rig) messageAfter(d time.Duration) { r.now += d; r.message() }

func (r *rig) leaves(w *Waiter) { r.does(func() { r.q.Leave(w) }) }

// handsOff releases, and reports whether the release's message may be ignored.
func (r *rig) handsOff() (own bool) {
	r.does(func() { own = r.q.HandOff(r.now) })
	return own
}

// goesOn lets time pass, and fires the timer when it is due.
func (r *rig) goesOn(d time.Duration) {
	r.t.Helper()
	end, still := r.now+d, 0
	for ; r.timer > 0 && r.timer <= end; still++ {
		if r.timer > r.now {
			still = 0
		} else if still > 1000 {
			r.t.Fatal("the timer stands still")
		}
		r.now = max(r.timer, r.now)
		r.timer = 0
		r.does(func() { r.q.Tick(r.now) })
	}
	r.now = end
}

// under checks that exactly these attempts are under way.
func (r *rig) under(what string, want ...*Waiter) {
	r.t.Helper()
	if !slices.Equal(r.attempts, want) {
		r.t.Fatalf("%s: %d attempts are under way, want %d, or others", what, len(r.attempts), len(want))
	}
}

// waits adds a waiter and refuses it for ttl, confirms the subscription, and refuses it again, so that it waits.
func (r *rig) waits(ttl time.Duration) *Waiter {
	r.t.Helper()
	w := r.joins(1)[0]
	r.refused(w, ttl)
	r.confirmed()
	r.refused(w, ttl)
	r.under("it waits")
	return w
}

// quiet checks that nothing is left.
func (r *rig) quiet() {
	r.t.Helper()
	if !r.dropped || r.subscribed || r.timer != 0 || len(r.attempts) > 0 {
		r.t.Fatalf("dropped %v, subscribed %v, timer %v, %d attempts", r.dropped, r.subscribed, r.timer, len(r.attempts))
	}
}

// ahead gives the queue a fair share that is far ahead, even after another client's release.
func (r *rig) ahead() *FairShare {
	share := new(FairShare)
	share.SetClients(2)
	share.SetClients(2)
	for range 100 {
		share.Granted(r.now)
		r.now += ms
		share.Released(r.now, false)
		after := *share
		after.MessageReceived(r.now)
		if after.YieldUntil(r.now) > 0 {
			r.q.Use(share)
			return share
		}
	}
	r.t.Fatal("no share is far ahead")
	return nil
}

func (r Reason) String() string {
	return [...]string{"running", "granted", "refused", "failed", "unreachable", "left"}[r]
}

// is checks how a wait ended.
func (r *rig) is(w *Waiter, why Reason, err error) {
	r.t.Helper()
	if r.ended[w] != why || !errors.Is(r.err[w], err) || w.Settled != (why != running) {
		r.t.Fatalf("%v, %v, want %v, %v", r.ended[w], r.err[w], why, err)
	}
}

var _ fmt.Stringer = running
