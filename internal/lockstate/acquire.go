package lockstate

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/waitqueue"
	"github.com/rlock-go/redisson/internal/wakepolicy"
)

// Waiter is one call that wants the lock. The shard's mutex guards it until its
// wait has ended. Then its caller reads hold and err.
type Waiter struct {
	waitqueue.Waiter
	n     *name
	l     *Lock
	Terms Terms // set before Start

	ready chan struct{} // gets one when the wait has ended; has room for it
	hold  *Hold
	err   error

	began     time.Duration
	tries     int      // attempts in its name
	owner     Owner    // of the attempts, without As
	ownerUsed bool     // an attempt in its name was not refused
	attempt   *attempt // under way

	queueOwner Owner // whose queue it waits in, where each owner has one
	refused    bool  // what it asked for was refused since the server was last told that it left

	references atomic.Int32 // to it, once it was granted the lock
}

// NewWaiter gives a waiter for one call, whose Terms are to be set. Start, Await
// and Result follow, in this order, unless one fails.
func (l *Lock) NewWaiter() *Waiter {
	w := l.c.spares.waiters.get()
	w.l = l
	return w
}

// Start makes the first attempt, or queues the waiter.
func (w *Waiter) Start() error {
	l := w.l
	if w.Terms.As {
		if err := w.actAs(l); err != nil {
			return err
		}
	}
	w.Once = w.Terms.HasWait && w.Terms.Wait == 0
	s := l.s
	defer s.enter(mayBlock).leave()
	if l.c.state.Load() != stateOpen {
		if err := l.c.admit(s, l, &w.Terms); err != nil {
			return err
		}
	}
	n := s.find(l)
	if n == nil {
		n = s.add(l)
	}
	w.n, w.began = n, s.sec.now()
	if w.Terms.As {
		w.Shared = w.Terms.Owner
	}
	if w.Terms.Wait > 0 {
		w.Until = clock.Later(w.began, w.Terms.Wait)
	}
	if n.alone(w) {
		n.lone = w
		n.try(w)
		return nil
	}
	return w.join()
}

// alone tells whether w needs no queue for now: this client has nothing of the
// name, and leaves no room for others just now. Most calls find it so, and are
// granted at once. Whatever else happens, be it another call, a refusal, trouble or
// the caller's impatience, first gives the waiter the queue that it would have had
// (name.adopt), in the state in which that would be. It is called with the shard
// locked.
func (n *name) alone(w *Waiter) bool {
	if n.queues != nil || n.states != nil || n.lone != nil || w.Terms.As || w.l.traits.ByOwner {
		return false
	}
	return n.fairShare == nil || !w.l.traits.FairShare || wakepolicy.Free(n.fairShare, w.began, w.Until)
}

// attempt is one acquire command. It outlives its waiter: its outcome is
// handled here, once, whether or not the waiter still waits.
type attempt struct {
	req        command.Request
	w          *Waiter
	st         *OwnerState
	want       kind.Want
	lease      time.Duration // what it passes
	began      time.Duration
	forces     int16 // of the name when it was queued
	queued     bool
	follows    bool // a release that went aside was under way when it was queued
	rejected   bool // the server's error has ended the wait, and what may have run is undone
	referenced bool // a timer refers to it
	stuckTimer *time.Timer
	left       bool // its owner's command queue is free, or an undo has it
	detached   bool // it has ended
}

// try makes an attempt for w, as the queue asks. It is called with the shard
// locked. What becomes of the attempt is reported to the queue once: as granted,
// refused, unsent, rejected, troubled, or resolved after it was open.
func (n *name) try(w *Waiter) {
	var st *OwnerState
	switch {
	case w.Terms.As:
		st = n.ensureShown(w.Terms.Owner)
	case w.owner == Owner{} || w.ownerUsed:
		// The owner of an attempt that may have been granted is not used again,
		// or the next attempt could re-enter (A5). A refused attempt leaves
		// no hold behind; a place in the server's queue, where the kind has one,
		// is kept for the next attempt.
		w.owner, w.ownerUsed = w.l.c.ownOwner(), false
		st = n.newOwnerState(w.owner)
	default:
		st = n.ensureOwnerState(w.owner)
	}
	if w.l.traits.ByOwner && !w.Terms.As {
		w.queue().listenFor(w.owner)
	}
	a := w.l.c.spares.attempts.get()
	a.w, a.st, a.began = w, st, n.l.s.sec.now()
	w.tries++
	w.attempt = a
	st.attempts++
	w.l.c.work.Add()
	if st.busy {
		a.limitWait()
	}
	st.run(a)
}

// begin queues the command. It runs with the shard locked, in the owner's
// command queue.
func (a *attempt) begin() {
	w, st, n := a.w, a.st, a.st.n
	c := w.l.c
	if w.Settled || w.Terms.As && a.strayed() {
		a.unsent()
		return
	}
	if st.lease == nil {
		st.register()
	}
	a.want = w.want(st)
	a.lease, a.want.Lease = c.o.Watchdog, c.args.lease
	if w.Terms.HasLease || st.held > 0 {
		a.chooseLease()
	}
	a.forces = n.forces
	if n.ahead > 0 {
		a.follow()
	}
	w.ownerUsed = true
	a.req.Handler, a.req.Wire.Tentative = a, true
	w.l.fill(&a.req, w.l.kind.Acquire(a.req.Wire.ArgBuffer[:0], &a.want))
	if a.queued = n.l.s.sec.enqueue(&a.req); !a.queued {
		a.failed()
		return
	}
	if a.follows {
		a.hearReleases()
	}
}

// want tells a kind what the waiter wants.
func (w *Waiter) want(o kind.Owner) kind.Want {
	want := kind.Want{Names: &w.l.names, Owner: o, Once: w.Once}
	if w.Until > 0 {
		want.Wait = w.Until - w.began
	}
	return want
}

// Done handles the end of the command.
func (a *attempt) Done(r *command.Request) {
	defer a.st.n.l.s.enter(mustNotBlock).leave()
	if r.Fate != command.Answered {
		a.notAnswered(r)
		return
	}
	g, err := a.w.l.kind.Granted(r.Wire.Reply, &a.want)
	switch {
	case err != nil:
		a.ranInPart(err)
	case !g.OK:
		a.refused(g)
	case a.w.l.traits.Gate:
		a.opened()
	default:
		a.granted(r)
	}
}

// granted makes a hold of a grant and gives it to the waiter. A grant that
// nobody wants any more, or that can't be trusted any more, is given back.
func (a *attempt) granted(r *command.Request) {
	st, w, n := a.st, a.w, a.st.n
	if w.l.traits.Width == 1 && n.holders > min(st.held, 1) {
		n.supersede(st, r.Wire.Sent)
	}
	h, ok := st.grant(w.l, &w.Terms, r.Wire.Sent, a.lease)
	if !ok || w.Settled || a.forces != n.forces || r.Unreplicated {
		a.grantedInVain(r, h, ok)
		return
	}
	w.hold = h
	if n.l.c.failsOver {
		h.everywhere = r.Wire.Replicas > 0 && r.Wire.Acked >= r.Wire.Replicas
	}
	if n.lone == w {
		n.lone = nil
		w.Settled = true
		w.ready <- struct{}{}
	} else {
		a.reportGrant()
		n.letThrough(st.owner)
	}
	a.end()
	if w.tries == 1 {
		w.done()
	}
	a.done()
}

// end ends the attempt, once, for its waiter and for its owner's command queue.
// It follows the report to the wait queue.
func (a *attempt) end() {
	if a.detached {
		return
	}
	a.detached = true
	st, n, c := a.st, a.st.n, a.w.l.c
	if a.stuckTimer != nil {
		c.timers.Cancel(a.stuckTimer)
	}
	if a.w.attempt == a {
		a.w.attempt = nil
	}
	st.attempts--
	if !a.left {
		a.left = true
		st.done()
	}
	if n.queues != nil || n.states == nil {
		n.step()
	}
	c.work.Done()
}

// done puts the attempt back at the end of its Done. Then only a timer could still
// refer to it.
func (a *attempt) done() {
	if a.referenced {
		return
	}
	spares := &a.st.n.l.c.spares
	*a = attempt{}
	spares.attempts.put(a)
}

// Await waits until the wait of w has ended. It returns early with ctx's error,
// or with ErrLocked when Terms.Wait has elapsed.
func (w *Waiter) Await(ctx context.Context) error {
	wait := w.Terms.Wait
	if wait == 0 && ctx.Done() == nil {
		<-w.ready
		return nil
	}
	var elapsed <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		elapsed = timer.C
	}
	select {
	case <-w.ready:
		// Both may have happened.
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	case <-elapsed:
		return ErrLocked
	}
}

// Result is what the caller returns. cause is why it stopped waiting, nil if
// the wait of w has ended.
func (w *Waiter) Result(ctx context.Context, cause error) (h *Hold, err error) {
	c := w.l.c
	if cause == nil {
		h, err = w.hold, w.err
	} else {
		h, err = w.stopped(ctx, cause)
	}
	if c.log != nil {
		w.logResult(ctx, h, err)
	}
	if h != nil {
		w.done()
	}
	return h, err
}

// done is called by the two that refer to a waiter whose first attempt was
// granted: that attempt, and the waiter's caller. The last one puts it back.
func (w *Waiter) done() {
	if w.references.Add(1) < 2 {
		return
	}
	spares := &w.l.c.spares
	*w = Waiter{ready: w.ready}
	w.Call = w
	spares.waiters.put(w)
}
