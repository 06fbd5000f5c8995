package faults

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// reached counts the matching commands of this round that were sent and have no reply.
func (r *round) reached(match faultproxy.Match) int {
	return r.count(func(e faultproxy.Exchange) bool { return match(e.Cmd) && e.Answered.IsZero() })
}

// asked is a call that runs on a goroutine.
type asked struct {
	*round
	done <-chan error
}

func (r *round) asks(fn func() error) asked { return asked{r, testbed.Begun(fn)} }

func (a asked) end() error {
	a.Helper()
	return returned(a.round, a.done)
}

// settles judges an unlock that was under way, and reports whether it returned nil.
func (a asked) settles() bool {
	a.Helper()
	err := a.end()
	a.allowed("Unlock under way: ", err, ok)
	return err == nil
}

// tidies releases what an unlock without a reply may have left: it would stay there for a lease.
func (r *round) tidies(owner rlock.Owner) {
	r.Helper()
	var err error
	if !testbed.Within(soon, func() bool {
		err = r.lock.UnlockAs(context.Background(), owner)
		return err == nil || kindOf(err) == notHeld
	}) {
		r.violates("UnlockAs after an unlock without an answer: %v", err)
	}
}

type held struct {
	*round
	hold *rlock.Hold
}

func (r *round) held(opts ...rlock.AcquireOption) held { return held{r, r.take(r.lock, opts...)} }

// unlocking starts the unlock, and returns when it is under way or after timeout/20: a client has few batches in flight
// at a time, so the unlock may still be queued.
func (h held) unlocking() asked {
	h.Helper()
	a := h.asks(func() error { return h.hold.Unlock(context.Background()) })
	testbed.Within(timeout/20, func() bool { return h.reached(unlocks) == 1 })
	return a
}

// locking is the same for an acquire.
func (r *round) locking() <-chan testbed.Entry {
	r.Helper()
	calls := r.acquiring(func() (*rlock.Hold, error) { return r.lock.Lock(r.Context()) })
	testbed.Within(timeout/20, func() bool { return r.reached(acquires) == 1 })
	return calls
}

// queue is a hold of the faulted client and two waiters for it: one of the same client and one of the rival.
type queue struct {
	held
	own, his <-chan testbed.Entry
}

func (r *round) queues() *queue {
	r.Helper()
	q := &queue{held: r.held()}
	q.own = r.joins(r.lock, 1)
	q.his = r.joins(r.his, 2)
	return q
}

// advance releases the hold. Both waiters must enter, one after the other.
func (q *queue) advance() {
	q.Helper()
	from := time.Now()
	q.release(q.hold)
	for range 2 {
		var got testbed.Entry
		select {
		case got = <-q.own:
		case got = <-q.his:
		case <-time.After(soon):
			q.violates("a waiter did not enter within %v of the release", soon)
			q.FailNow()
		}
		q.allowed("a waiter: ", got.Err, ok)
		if got.Err == nil {
			q.row.took("a waiter entered after the release", got.At.Sub(from))
			q.holds(1, got.Hold)
			from = time.Now()
			q.release(got.Hold)
		}
	}
	q.comesFree()
}

// crowded is callers that keep acquiring and releasing one lock.
type crowded struct {
	*round
	stop    context.CancelFunc
	callers sync.WaitGroup
	inside  atomic.Int64
	entered atomic.Int64
}

func (r *round) crowds() *crowded {
	ctx, stop := context.WithCancel(r.Context())
	c := &crowded{round: r, stop: stop}
	r.Cleanup(func() {
		stop()
		c.callers.Wait()
	})
	for n := range 4 {
		l := []*rlock.Lock{r.lock, r.his}[n%2]
		c.callers.Go(func() {
			for ctx.Err() == nil {
				c.visit(ctx, l)
			}
		})
	}
	testbed.BecomesWithin(r.T, soon, "somebody enters", func() bool { return c.entered.Load() > 4 })
	return c
}

func (c *crowded) visit(ctx context.Context, l *rlock.Lock) {
	h, err := l.Lock(ctx)
	if err != nil {
		if ctx.Err() == nil {
			c.allowed("Lock of many: ", err, uncertain, unreachable, readOnly)
		}
		return
	}
	c.auditor.believe(h)
	if c.inside.Add(1) != 1 && h.Err() == nil {
		c.violates("two are inside")
	}
	c.entered.Add(1)
	<-time.After(time.Millisecond) // the work inside
	if err := h.Err(); err != nil {
		c.violates("a hold in use: %v", err)
	}
	c.inside.Add(-1)
	if err := h.Unlock(context.Background()); err != nil {
		c.allowed("Unlock of many: ", err, uncertain)
		c.tidies(h.Owner())
	}
}

// goesOn checks that callers still enter, and then stops them.
func (c *crowded) goesOn() {
	c.Helper()
	before := c.entered.Load()
	c.expects(soon, "nobody enters any more", func() bool { return c.entered.Load() > before+4 })
	c.stop()
	c.callers.Wait()
	c.comesFree()
}

// first measures the time from the move to the first lock.
func (r *round) first(from time.Time) {
	r.Helper()
	for {
		h, err := r.lock.Lock(r.Context())
		at := time.Now()
		if err == nil {
			r.auditor.believe(h)
			r.row.took("first lock after", at.Sub(from))
			r.release(h)
			return
		}
		if at.Sub(from) > soon {
			r.violates("no lock for %v after the move: %v", at.Sub(from), err)
			return
		}
		r.allowed("Lock after the move: ", err, uncertain, unreachable, readOnly)
	}
}

// atOnce is how soon after a move a hold is renewed or reported as lost: on the next connection, and not when a renewal
// is due, which is after 10 s, or when its lease ends.
const atOnce = 5 * time.Second

// renewed checks that the hold's ValidUntil grows within atOnce of since.
func (h held) renewed(before, from, since time.Time) {
	h.Helper()
	grown := func() bool { return h.hold.ValidUntil().Sub(before) > 5*time.Millisecond }
	if !testbed.Within(time.Until(since.Add(atOnce)), grown) && !(machine.stood(from) && testbed.Within(soon, grown)) {
		h.violates("not renewed within %v", time.Since(from))
	}
	h.row.took("renewed after", time.Since(from))
}

// told checks that a hold whose key the new master lacks reports its loss.
func (h held) told(from time.Time) {
	h.Helper()
	over := func() bool { return h.hold.Err() != nil }
	if testbed.Within(time.Until(from.Add(atOnce)), over) || machine.stood(from) && testbed.Within(soon, over) {
		h.row.took("told of a lost hold after", time.Since(from))
		h.allowed("hold whose key was lost: ", h.hold.Err(), leaseLost)
	} else {
		h.violates("not told of a lost hold within %v", time.Since(from))
	}
	h.lost(h.hold)
}

// still checks that the hold is unchanged, and releases it.
func (h held) still() {
	h.Helper()
	h.holds(1, h.hold)
	h.allowed("hold whose key was kept: ", h.hold.Err(), ok)
	h.release(h.hold)
	h.comesFree()
}
