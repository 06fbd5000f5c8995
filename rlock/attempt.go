package rlock

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/transport"
	"github.com/rlock-go/redisson/watchdog"
)

// attempt is one acquire command. It outlives its waiter: its outcome is
// handled here, once, whether or not the waiter still waits.
type attempt struct {
	req        pipeline.Request
	w          *waiter
	st         *ownerState
	lease      time.Duration // what it passes
	began      time.Duration
	forces     int32 // of the name when it was queued
	queued     bool
	handedOff  bool // it followed an unlock of this client at once
	referenced bool // a timer knows it
	stuckTimer *time.Timer
	detached   bool // nothing comes of it any more for its waiter
}

// try makes an attempt for w. It is called with the shard locked.
func (n *name) try(w *waiter) *attempt {
	var st *ownerState
	if w.terms.as {
		st = n.ensureOwnerState(w.terms.owner)
	} else {
		// The owner of an attempt that may have been granted is not used again,
		// or the next attempt could re-enter (A5). A refused attempt leaves
		// nothing behind.
		if w.owner == (Owner{}) || w.ownerUsed {
			w.owner, w.ownerUsed = n.c.NewOwner(), false
		}
		st = n.ensureOwnerState(w.owner)
	}
	a := attempts.Get().(*attempt)
	a.w, a.st, a.began = w, st, n.c.early()
	w.tries++
	w.attempt = a
	a.st.attempts++
	n.c.work.add()
	if a.st.busy {
		a.referenced = true
		a.stuckTimer = n.c.after(n.c.o.timeout, a.stuck)
	}
	a.st.run(a)
	return a
}

// begin queues the command. It runs with the shard locked, in the owner's
// command queue.
func (a *attempt) begin() {
	st, n := a.st, a.st.n
	n.c.timers.cancel(a.stuckTimer)
	if a.w.ended {
		a.unsent()
		return
	}
	own := n.c.o.watchdog
	if a.w.terms.hasLease {
		own = a.w.terms.lease
	}
	st.register()
	a.lease = st.commandLease(own)
	a.forces = n.forces
	a.w.ownerUsed = true
	a.req.Done, a.req.Wait = a, n.c.o.replicas
	a.req.Call(n.l.kind.acquire(a.req.ArgBuffer[:0], n.l.key, st, n.c.leaseArg(a.lease)))
	if a.queued = n.c.node.pipe.Enqueue(&a.req); !a.queued {
		a.failed(a.req.Err)
	}
}

// stuck fails a waiter that has had no answer and whose owner has an earlier
// command open (A7).
func (a *attempt) stuck() {
	s := a.st.n.s
	s.lock()
	defer s.unlock()
	if a.inCommandQueue() && !a.detached && !a.w.ended && !a.w.wasRefused() {
		a.w.fail(a.w.unsent(a.st.n.c.node.pipe.Err()))
	}
}

// inCommandQueue tells whether the attempt waits for an earlier command of its
// owner.
func (a *attempt) inCommandQueue() bool { return a.req.Done == nil }

// unanswered tells whether the attempt may have reached the server.
func (a *attempt) unanswered() bool { return a.queued && !a.detached }

// cancel takes the command back if it was not written yet. Then unsent must be
// called. It is called with the shard locked.
func (a *attempt) cancel() bool {
	if a.queued && !a.detached && a.st.n.c.node.pipe.Cancel(&a.req) {
		a.queued = false
		return true
	}
	return false
}

// abandon ends an attempt that was not written yet. It is called with the shard
// locked.
func (a *attempt) abandon() {
	if a.cancel() {
		a.unsent()
	}
}

// unsent ends an attempt that was not sent. Its wake-up stays pending.
func (a *attempt) unsent() {
	if a.isQueueAttempt() {
		a.st.n.queue.wakePending = true
	}
	a.finish()
}

// finish ends the attempt for its waiter, its queue and its owner's command
// queue.
func (a *attempt) finish() {
	a.detach()
	a.st.attempts--
	a.st.done()
	a.st.n.c.work.done()
}

// detach ends the attempt for its waiter and queue only.
func (a *attempt) detach() {
	if a.detached {
		return
	}
	a.detached = true
	n := a.st.n
	if a.w.attempt == a {
		a.w.attempt = nil
	}
	if n.isQueueAttempt(a) {
		n.queue.current = nil
	}
	n.step()
}

// Complete handles the end of the command.
func (a *attempt) Complete(r *pipeline.Request) {
	s := a.st.n.s
	s.lock()
	defer s.unlock()
	if r.Err != nil {
		a.failed(r.Err)
		return
	}
	granted, ttl, err := codec.DecodeAcquire(r.Reply)
	switch {
	case err != nil:
		a.failed(err)
	case granted:
		a.granted(r)
	default:
		a.refused(ttl)
		a.done()
	}
}

// granted makes a hold of a grant and gives it to the waiter. A grant that
// nobody wants any more, or that can't be trusted any more, is given back.
func (a *attempt) granted(r *pipeline.Request) {
	st, w, n := a.st, a.w, a.st.n
	n.supersede(st)
	h, ok := st.grant(w, r.Sent, a.lease)
	switch {
	case !ok:
		st.drop(h)
		st.mayHaveSet(r.Sent, a.lease)
		st.updateLease()
		h.over(lostBy(watchdog.ErrExpired))
		h.giveBack()
		w.fail(fmt.Errorf("%w: its reply took longer than the lease of %v", ErrLeaseLost, st.least(r.Sent, a.lease)))
		a.tellQueue()
	case r.Replicas > 0 && r.Acked == 0:
		n.c.log.unreplicated(st, r)
		a.giveBackFirst(h, func() { a.retryLater(errUnreplicated) })
		return
	case a.forces != n.forces:
		// A ForceUnlock was queued behind it: the grant is gone again.
		a.giveBackFirst(h, a.again)
		return
	case w.ended:
		h.giveBack()
		a.tellQueue()
	default:
		w.endWait(h, nil)
		a.tellQueue()
		n.reenter(st.owner)
		a.finish()
		if w.tries == 1 {
			w.done()
		}
		a.done()
		return
	}
	a.finish()
}

// supersede ends the holds of all owners but st, which the server has just
// named the holder. Replies come in order, so any other hold of this client was
// granted before, and the server has lost it since.
func (n *name) supersede(st *ownerState) {
	if n.states == st && st.next == nil {
		return // as nearly always
	}
	for _, other := range n.ownerStates() {
		if other == st || other.held == 0 {
			continue
		}
		cause := errSuperseded
		if n.c.now() >= other.lease.Expiry() {
			cause = watchdog.ErrExpired // which nobody was told of yet
		}
		other.lose(cause)
	}
}

// giveBackFirst gives a grant back and goes on for the waiter only after that,
// so that the waiter's next attempt is not refused by this grant.
func (a *attempt) giveBackFirst(h *Hold, then func()) {
	h.release(nil, func(err error) {
		a.st.n.c.log.givenBack(a.st, err)
		then()
		a.detach()
	})
	a.st.attempts--
	a.st.done()
	a.st.n.c.work.done()
}

// isQueueAttempt tells whether it is the attempt of its queue.
func (a *attempt) isQueueAttempt() bool { return a.st.n.isQueueAttempt(a) }

// tellQueue tells the queue, if the attempt was its own, that the lock is taken
// now. The waiter that got it has left the queue by then.
func (a *attempt) tellQueue() {
	if a.isQueueAttempt() {
		a.st.n.queue.lockTaken(a.lease)
	}
}

// grant makes a living hold. It reports false if the hold can't be trusted any
// more (H3).
func (st *ownerState) grant(w *waiter, sent, lease time.Duration) (*Hold, bool) {
	c := st.n.c
	h := &st.firstHold
	if h.st != nil {
		h = new(Hold)
	}
	h.l, h.st, h.lease, h.end, h.until = w.n.l, st, st.lease, clock.Never, clock.Never
	h.since = sent
	if w.terms.hasLease {
		h.fixed = true
		h.until = later(sent, w.terms.lease)
		h.end = watchdog.Trust(sent, w.terms.lease)
	} else if w.terms.hasMax {
		h.until = later(c.now(), w.terms.maxHold)
		h.end = watchdog.Trust(h.until, c.o.watchdog)
	}
	if st.lease != nil && c.now() >= st.lease.Expiry() {
		st.lose(watchdog.ErrExpired) // which nobody was told of yet
	}
	if st.lease == nil {
		// The holds it would have joined were lost in the meantime.
		st.register()
		h.lease = st.lease
	}
	if st.add(h); st.held == 1 {
		st.n.noteGrant()
	}
	c.liveHolds.add()
	now := c.now()
	if now >= min(h.end, st.trust(sent, lease)) || !st.leased(sent, lease) {
		return h, false
	}
	return h, true
}

// refused handles the answer that another owner holds the lock.
func (a *attempt) refused(ttl time.Duration) {
	w, n := a.w, a.st.n
	n.c.log.waiting(w, ttl)
	w.refused = true
	w.ownerUsed = false
	w.trouble.clear()
	switch {
	case a.isQueueAttempt():
		if n.fairShare != nil {
			n.fairShare.Refused(n.c.early())
		}
		n.queue.lockTaken(ttl)
		n.queue.pollWithin(pollIntervals)
		if a.handedOff {
			// The unlock did not run before it, or released nothing.
			n.resetOwnMessages()
		}
	case w.ended:
	case w.once:
		w.fail(ErrLocked)
	default:
		// Only a refused re-entry queues (A3).
		q := n.ensureQueue()
		q.unqueued.remove(w)
		if q.size == 0 && q.current == nil {
			q.waiterList.push(w)
			q.lockTaken(ttl)
		} else {
			q.push(w)
		}
	}
	a.finish()
}

// failed handles an attempt that ended with an error.
func (a *attempt) failed(err error) {
	c := a.st.n.c
	if a.handedOff {
		a.st.n.resetOwnMessages()
	}
	switch {
	case lost(err):
		a.lost(err)
	case closedPipe(err) || c.closed():
		a.w.fail(ErrClosed)
		a.finish()
	case notSent(err) && transport.Permanent(err) && !a.w.wasRefused():
		// Connecting again would meet the same refusal.
		a.answeredWithError(err)
		a.finish()
	case notSent(err):
		a.retryLater(err)
		a.finish()
	case harmless(err) || a.w.terms.as:
		if !harmless(err) {
			a.st.mayHaveSet(a.req.Sent, a.lease)
		}
		a.answeredWithError(err)
		a.finish()
	default:
		// Part of the script may have run.
		a.answeredWithError(err)
		a.undo(true)
	}
}

// answeredWithError fails the waiter with the server's error, or tries again if
// the error passes.
func (a *attempt) answeredWithError(err error) {
	w := a.w
	if transient(err) || w.wasRefused() && passing(err) {
		a.retryLater(err)
		return
	}
	w.fail(err)
	if a.isQueueAttempt() {
		a.st.n.queue.wakePending = true // the next head sees for itself
	}
}

// retryLater makes the attempt again after a pause, unless the waiter gives up
// before.
func (a *attempt) retryLater(err error) {
	w, n := a.w, a.st.n
	since := a.began
	if a.isQueueAttempt() {
		n.queue.attemptFailed(err, since)
		return
	}
	if w.ended {
		return
	}
	w.trouble.add(err, since)
	if !w.wasRefused() && n.c.now()-w.trouble.since >= n.c.o.timeout {
		w.fail(w.unreachable(err))
		return
	}
	n.c.after(w.trouble.pause, func() {
		n.s.lock()
		defer n.s.unlock()
		w.retry()
	})
}

// again makes the attempt again at once.
func (a *attempt) again() {
	n := a.st.n
	if a.isQueueAttempt() {
		n.queue.wakePending = true
		return
	}
	w := a.w
	n.c.after(0, func() {
		n.s.lock()
		defer n.s.unlock()
		w.retry()
	})
}

// retry makes another unqueued attempt, unless one is under way.
func (w *waiter) retry() {
	n := w.n
	switch {
	case w.ended || w.attempt != nil:
	case n.c.closed():
		w.fail(ErrClosed)
	default:
		n.try(w)
	}
}
