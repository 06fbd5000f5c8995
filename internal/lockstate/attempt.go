package lockstate

import (
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/waitqueue"
)

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
	if w.Terms.As {
		st = n.ensureShown(w.Terms.Owner)
	} else {
		// The owner of an attempt that may have been granted is not used again,
		// or the next attempt could re-enter (A5). A refused attempt leaves
		// no hold behind; a place in the server's queue, where the kind has one,
		// is kept for the next attempt.
		if w.owner == (Owner{}) || w.ownerUsed {
			w.owner, w.ownerUsed = n.s.c.ownOwner(), false
		}
		st = n.ensureOwnerState(w.owner)
		if w.l.traits.ByOwner {
			w.queue().listenFor(w.owner)
		}
	}
	a := attempts.Get().(*attempt)
	a.w, a.st, a.began = w, st, n.now()
	w.tries++
	w.attempt = a
	a.st.attempts++
	n.s.c.work.add()
	if a.st.busy {
		a.referenced = true
		a.stuckTimer = n.s.c.after(n.s.c.o.Timeout, a.stuck)
	}
	a.st.run(a)
}

// queue is what the attempt is reported to, on behalf of its waiter. A waiter
// that has left may have been the last one there.
func (a *attempt) queue() (*waitQueue, *waitqueue.Waiter) {
	return a.st.n.ensureQueue(a.w.l, a.w.queueOwner), &a.w.Waiter
}

// begin queues the command. It runs with the shard locked, in the owner's
// command queue.
func (a *attempt) begin() {
	st, n := a.st, a.st.n
	if a.w.Settled {
		a.unsent()
		return
	}
	if a.w.Terms.As && n.s.c.strays.has(st.owner) {
		a.w.fail(strayed(st.owner)) // an unlock of it has been lost since it began to wait
		a.unsent()
		return
	}
	own := n.s.c.o.Watchdog
	if a.w.Terms.HasLease {
		own = a.w.Terms.Lease
	}
	st.register()
	a.lease = st.commandLease(own)
	a.forces = n.forces
	a.follow()
	a.w.ownerUsed = true
	a.req.Handler = a
	a.w.fill(&a.want, st)
	a.want.Lease = n.s.c.leaseArg(a.lease)
	a.w.l.fill(&a.req, a.w.l.kind.Acquire(a.req.Wire.ArgBuffer[:0], &a.want))
	if a.queued = n.s.sec.enqueue(&a.req); !a.queued {
		a.failed()
		return
	}
	a.hearReleases()
}

// stuck fails a waiter that has had no answer, whose owner had an earlier command
// open, and of which nothing has been written since (A7).
func (a *attempt) stuck() {
	s := a.st.n.s
	defer s.enter(mayBlock).leave()
	if a.detached || a.w.Settled || a.w.wasRefused() {
		return
	}
	queued := a.inCommandQueue()
	if !queued && !a.cancel() {
		return // its own send bounds it
	}
	a.w.fail(a.w.unsent(a.st.n.s.c.exec.Trouble(a.st.n.l.slot)))
	if queued {
		a.st.n.step()
	} else {
		a.unsent()
	}
}

// inCommandQueue tells whether the attempt waits for an earlier command of its
// owner.
func (a *attempt) inCommandQueue() bool { return !a.req.Begun() }

// unanswered tells whether the attempt may have reached the server.
func (a *attempt) unanswered() bool { return a.queued && !a.detached }

// cancel takes the command back if it was not written yet. Then unsent must be
// called. It is called with the shard locked.
func (a *attempt) cancel() bool {
	if a.queued && !a.detached && a.st.n.s.c.exec.Cancel(&a.req) {
		a.queued, a.w.ownerUsed = false, false
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

// unsent ends an attempt that the server was not asked for, or did not tell of:
// the wake-up that it was made for stays pending.
func (a *attempt) unsent() {
	q, w := a.queue()
	q.Unsent(w)
	a.end()
}

// end ends the attempt, once, for its waiter and for its owner's command queue.
// It follows the report to the wait queue.
func (a *attempt) end() {
	if a.detached {
		return
	}
	a.detached = true
	st, n := a.st, a.st.n
	n.s.c.timers.cancel(a.stuckTimer)
	if a.w.attempt == a {
		a.w.attempt = nil
	}
	st.attempts--
	a.leave()
	n.step()
	n.s.c.work.done()
}

// leave frees its owner's command queue.
func (a *attempt) leave() {
	if !a.left {
		a.left = true
		a.st.done()
	}
}

// Unanswered follows the loss of its connection. It may have run; bytes of it
// may still be on their way.
func (a *attempt) Unanswered(r *command.Request) {
	s := a.st.n.s
	defer s.enter(mustNotBlock).leave()
	a.st.mayHaveSet(r.Wire.Sent, a.lease)
	q, w := a.queue()
	q.Open(q.now(), w, r.Wire.Err, a.began)
	a.st.n.step()
}

// Paused never comes: an acquire is never sent again.
func (a *attempt) Paused(*command.Request, time.Duration) {}

// Done handles the end of the command.
func (a *attempt) Done(r *command.Request) {
	s := a.st.n.s
	defer s.enter(mustNotBlock).leave()
	switch r.Fate {
	case command.Answered:
		g, err := a.w.l.kind.Granted(r.Wire.Reply, &a.want)
		switch {
		case err != nil:
			a.ranInPart(err)
		case g.OK && a.w.l.traits.Gate:
			a.opened()
		case g.OK:
			a.granted(r)
		default:
			a.refused(g)
			a.done()
		}
	case command.Lost:
		// Only now is anything else tried (A5).
		if a.w.Terms.As {
			a.countHolds()
		} else {
			a.undo()
		}
	default:
		a.failed()
	}
}

// refused handles the answer that another owner holds the lock.
func (a *attempt) refused(g kind.Grant) {
	a.st.n.s.c.log.waiting(a.w, g.TTL)
	a.w.ownerUsed = false
	q, w := a.queue()
	q.Refused(q.now(), w, a.w.l.pause(a.w.tries, g))
	a.w.asked()
	a.end()
}

// failed decides what an attempt becomes that the server refused, or was never
// asked for.
func (a *attempt) failed() {
	switch r := &a.req; {
	case r.Fate == command.Closed || a.st.n.s.c.Closed():
		a.reject(ErrClosed)
	case r.Fate == command.NotSent && (!r.Permanent() || a.w.wasRefused()):
		a.retryLater(r.Wire.Err)
	case r.MayHaveRun():
		a.ranInPart(r.Wire.Err)
	case a.passing():
		a.retryLater(r.Wire.Err)
	default: // what was not sent would meet the same refusal again
		a.reject(r.Wire.Err)
	}
}

// ranInPart gives back what a script may have got that ended with an error, or
// with a reply of another shape.
func (a *attempt) ranInPart(err error) {
	q, w := a.queue()
	switch {
	case a.w.Terms.As:
		a.st.mayHaveSet(a.req.Wire.Sent, a.lease)
		if a.passing() {
			a.retryLater(err)
		} else {
			a.w.asked()
			a.reject(err)
		}
		return
	case a.passing():
		q.Open(q.now(), w, err, a.began)
	default:
		a.rejected = true
		a.w.fail(err)
	}
	a.undo()
	a.st.n.step()
}

// passing tells whether the server's error is no reason to end the wait.
func (a *attempt) passing() bool {
	return a.req.Transient() || a.w.wasRefused() && a.req.Passing()
}

// reject ends the attempt, and the wait with an error.
func (a *attempt) reject(err error) {
	q, w := a.queue()
	q.Rejected(w, err)
	a.end()
}

// retryLater ends the attempt and has it made again after a pause, unless the
// waiter gives up before.
func (a *attempt) retryLater(err error) {
	q, w := a.queue()
	q.Troubled(q.now(), w, err, a.began)
	a.end()
}

// resolve ends an attempt that was open: what came of it is known, or undone.
func (a *attempt) resolve() {
	if a.rejected {
		a.unsent()
		return
	}
	q, w := a.queue()
	q.Resolved(w)
	a.end()
}
