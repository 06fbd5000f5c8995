package lockstate

import (
	"cmp"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/waiting"
)

// attempt is one acquire command. It can outlive its waiter: the outcome is handled here, once,
// even if nobody waits for it any more.
type attempt struct {
	req        command.Request
	w          *Waiter
	st         *OwnerState
	want       kind.Want
	lease      time.Duration // that the command passes
	began      time.Duration
	forces     int16 // the name's forces when the command was queued
	queued     bool
	rejected   bool // the server's error ended the wait, and what may have run is being undone
	referenced bool // a timer refers to it
	stuckTimer *time.Timer
	left       bool // it no longer occupies its owner's command queue: that is free, or an undo has it
	detached   bool // it has ended
}

// Try makes an attempt for w when the queue asks for one. It is called with the shard locked.
// The outcome is reported to the queue once: as granted, refused, unsent, rejected, troubled,
// or resolved after it was open.
func (w *Waiter) Try() {
	n := w.n
	var st *OwnerState
	switch {
	case w.Terms.As:
		st = n.ensureShown(w.Terms.Owner)
	case w.owner == owner.Owner{} || w.ownerUsed:
		// An owner whose attempt may have been granted is not used again: the next attempt
		// could re-enter (A5). A refused attempt leaves no hold, so its owner is used again,
		// and keeps its place in the server's queue if the kind has one.
		w.owner, w.ownerUsed = w.l.c.Actors.OfAcquire(), false
		st = n.newOwnerState(w.owner)
	default:
		st = n.ensureOwnerState(w.owner)
	}
	if w.l.Traits.ByOwner && !w.Terms.As {
		w.queue().ListenFor(w.owner)
	}
	a := take[attempt](&w.l.c.spares.attempts)
	a.w, a.st, a.began = w, st, n.now()
	w.tried()
	w.tries++
	w.attempt = a
	st.attempts++
	w.l.c.Work.Add()
	if st.busy { // bounds the wait for an earlier command of the owner
		a.referenced = true
		a.stuckTimer = w.l.c.Timers.After(w.l.c.Timeout, a.stuck)
	}
	st.run(a)
}

// start queues the command. It runs with the shard locked, in the owner's
// command queue.
func (a *attempt) start() {
	w, st, n := a.w, a.st, a.st.n
	c := w.l.c
	if w.Terms.As && c.Actors.IsStray(st.owner) { // it became a stray while this attempt waited
		w.fail(owner.Strayed(st.owner))
	}
	if w.Settled {
		a.unsent()
		return
	}
	if st.lease == nil && !w.l.Traits.Unowned {
		st.register()
	}
	a.want = w.want(st)
	a.lease = st.commandLease(cmp.Or(w.Terms.Lease, c.Watchdog))
	a.want.Lease = c.LeaseArg(a.lease)
	a.forces = n.forces
	a.req.Aside = n.acquiresAside()
	a.req.Strict, a.req.Wire.Counts = w.l.Traits.Lasting, c.FailsOver && st.mayBeShared()
	if st.held > 0 {
		// In a half moved slot each send ends the attempt. The executor would keep the attempt,
		// and with it the command queue, while the holds must be renewed (H6).
		a.req.Resend = kind.Unrun
	}
	w.ownerUsed = true
	a.req.Handler, a.req.Wire.Tentative = a, true
	w.l.c.Fill(&a.req, w.l.Slot, w.l.Kind.Acquire(a.req.Wire.ArgBuffer[:0], &a.want))
	if a.queued = n.l.s.Enqueue(&a.req); !a.queued {
		a.failed()
		return
	}
	if n.ahead > 0 && !a.req.WentAside {
		// The server may refuse it before a release that was queued earlier has run. So every
		// message counts from now on.
		if q := w.queue(); q != nil {
			q.HearOwnMessages()
		}
	}
}

// queue is the wait queue that the attempt reports to. It is made again if the waiter has left
// and was the last one there.
func (a *attempt) queue() *waiting.Queue { return a.st.n.Ensure(&a.w.l.Lock, a.w.QueueOwner) }

// Answered handles the server's reply.
func (a *attempt) Answered(r *command.Request) {
	defer a.st.n.l.s.Enter(section.MustNotBlock).Leave()
	g, err := a.w.l.Kind.Granted(r.Wire.Reply)
	switch {
	case err != nil:
		a.ranInPart(err)
	case g.Refused != nil: // by the kind itself: there is nothing to undo
		a.w.ownerUsed = false
		a.w.asked()
		a.reject(g.Refused)
	case !g.OK:
		a.refused(g)
	case a.w.l.Traits.Gate: // which nobody holds
		a.reportGrant()
		a.end()
	case a.w.l.Traits.Unowned:
		a.taken(r)
	default:
		a.granted(r, g.Token)
	}
}

// granted turns a grant into a hold and gives it to the waiter. A grant that nobody wants any
// more, or that can no longer be trusted, is given back.
func (a *attempt) granted(r *command.Request, token int64) {
	st, w, n := a.st, a.w, a.st.n
	if w.l.Traits.Width == 1 && n.holders > min(st.held, 1) || w.l.Traits.Width != 1 && n.exclusive > 0 {
		n.supersede(st, w.l.Traits.Width, r.Wire.Sent)
	}
	h, ok := st.grant(w.l, &w.Terms, r.Wire.Sent, a.lease)
	if !ok || w.Settled || a.forces != n.forces || r.Unreplicated {
		a.grantedInVain(r, h, ok)
		return
	}
	w.hold = h
	if token > 0 {
		st.ensureExtras().token = token
	}
	h.everywhere = r.Wire.Everywhere
	if w.refused && w.l.Traits.ByOwner && n.l.c.FailsOver {
		st.ensureExtras().place = &placeTaken{w.place}
	}
	if n.EndAlone(&w.Waiter) {
		w.Settled = true
		w.ready <- struct{}{}
	} else {
		a.reportGrant()
		n.LetThrough(st.owner)
	}
	a.end()
	if w.tries == 1 {
		w.done()
	}
	a.done()
}

// Rest goes on with an attempt that was not sent, was lost, or was answered with an error.
func (a *attempt) Rest(r *command.Request) {
	st, w, s := a.st, a.w, a.st.n.l.s
	defer s.Enter(section.MayBlock).Leave()
	if r.Fate != command.Lost {
		a.failed()
		return
	}
	// It may have run; bytes of it may still be on their way.
	st.mayHaveSet(r.Wire.Sent, a.lease)
	a.queue().Open(st.n.now(), &w.Waiter.Waiter, r.Wire.Err, a.began, false)
	st.n.Step()
	s.Barrier(r) // nothing else is tried before this returns (A5)
	if w.Terms.As {
		a.countHolds()
	} else {
		a.undo()
	}
}

// refused handles the answer that another owner holds the lock.
func (a *attempt) refused(g kind.Grant) {
	q := a.queue()
	q.Unset, a.w.unset = g.Unset, g.Unset
	a.w.forever = g.TTL < 0 && !a.w.l.Traits.ByOwner // such a kind also replies -1 for a place far back in its queue
	if w := a.w; !w.Told && !w.OneTry && !w.Settled {
		w.l.c.Log.Waiting(w.l.s, eventlog.Lock{Name: w.n.l.Name()}, g.TTL)
	}
	a.w.ownerUsed = false
	if !a.w.contended && !a.w.Settled { // a caller that has left tells what it saw without the mutex
		a.w.waitsForOthers()
	}
	q.Refused(a.st.n.now(), &a.w.Waiter.Waiter, q.Unheard(a.w.l.Pause(a.w.tries, g)))
	a.w.asked()
	a.end()
	a.done()
}

// reportGrant tells the queue that the lock is taken now.
func (a *attempt) reportGrant() {
	q := a.queue()
	q.Granted(a.st.n.now(), &a.w.Waiter.Waiter, q.Unheard(a.w.l.Pause(0, kind.Grant{OK: true, TTL: a.lease})))
}

// grantedInVain ends an attempt whose grant the waiter can't have. ok tells whether the hold
// can be trusted.
func (a *attempt) grantedInVain(r *command.Request, h *Hold, ok bool) {
	st, w, n := a.st, a.w, a.st.n
	switch {
	case !ok:
		st.drop(h)
		st.mayHaveSet(r.Wire.Sent, a.lease)
		st.updateLease()
		why := lostBy(errExpired)
		if w.Settled { // nobody has lost what no caller had
			why = lockerr.ErrReleased
		}
		h.over(why)
		h.giveBack()
		w.fail(fmt.Errorf("%w: its reply took longer than the lease of %v", lockerr.ErrLeaseLost, st.least(r.Wire.Sent, a.lease)))
	case r.Unreplicated:
		err := lockerr.Unreplicated(r)
		n.l.c.Log.Unreplicated(n.l.s, st.told(), r.Wire.Replicas, err)
		if st.held == 1 { // the owner held nothing before
			a.leaveRoom(n.now() - r.Wire.Sent)
		}
		a.giveBackFirst(h, func() { a.retryLater(err) })
		return
	case a.forces != n.forces:
		// A ForceUnlock was queued after it and has deleted what was granted.
		a.giveBackFirst(h, a.unsent)
		return
	default: // its caller has left
		h.giveBack()
	}
	a.reportGrant()
	a.end()
}

// failed decides how an attempt ends that the server answered with an error, or that was not
// sent.
func (a *attempt) failed() {
	switch r := &a.req; {
	case r.Fate == command.Closed || a.st.n.l.c.Closed():
		a.reject(lockerr.ErrClosed)
	case r.Fate == command.NotSent && (!r.Permanent() || a.w.wasRefused()):
		a.didNotRun(r.Wire.Err)
	case r.MayHaveRun():
		a.ranInPart(lockerr.InPart(r.Wire.Err))
	case a.passing():
		a.didNotRun(r.Wire.Err)
	default: // another attempt would be refused the same way
		a.reject(r.Wire.Err)
	}
}

// ranInPart handles a script that may have run in part: it ended with an error, or with a reply
// of unknown shape. What it may have acquired is undone, except with As.
func (a *attempt) ranInPart(err error) {
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
		a.queue().Open(a.st.n.now(), &a.w.Waiter.Waiter, err, a.began, a.req.Moving())
	default:
		a.rejected = true
		a.w.fail(err)
	}
	a.undo()
	a.st.n.Step()
}

// passing tells whether the wait goes on despite the server's error.
func (a *attempt) passing() bool {
	return a.req.Transient() || a.req.MetElsewhere() || a.w.wasRefused() && a.req.Passing()
}

// reject ends the attempt, and the wait with an error.
func (a *attempt) reject(err error) {
	a.queue().Rejected(&a.w.Waiter.Waiter, err)
	a.end()
}

// retryLater ends the attempt. Another is made after a pause, unless the waiter gives up
// before.
func (a *attempt) retryLater(err error) {
	if q := a.queue(); a.req.Moving() {
		q.Unsettled(a.st.n.now(), &a.w.Waiter.Waiter, err, a.began)
	} else {
		q.Troubled(a.st.n.now(), &a.w.Waiter.Waiter, err, a.began)
	}
	a.end()
}

// didNotRun is retryLater for an attempt of which nothing ran. Its owner can be used again, and
// keeps its place in the server's queue, if it has one.
func (a *attempt) didNotRun(err error) {
	a.w.ownerUsed = false
	a.retryLater(err)
}

// resolve ends an attempt that was open: its outcome is known now, or undone.
func (a *attempt) resolve() {
	if a.rejected {
		a.unsent()
		return
	}
	a.queue().Resolved(&a.w.Waiter.Waiter)
	a.end()
}

// end ends the attempt for its waiter and for its owner's command queue. Only the first call
// does anything. The report to the wait queue comes before it.
func (a *attempt) end() {
	if a.detached {
		return
	}
	a.detached = true
	st, n, c := a.st, a.st.n, a.w.l.c
	c.Timers.Cancel(a.stuckTimer)
	if a.w.attempt == a {
		a.w.attempt = nil
	}
	st.attempts--
	if !a.left {
		a.left = true
		st.done()
	}
	if n.Queued() || n.states == nil {
		n.Step()
	}
	c.Work.Done()
}

// done recycles the attempt at the end of Answered. By then only a timer can still refer to it.
func (a *attempt) done() {
	if a.referenced {
		return
	}
	spares := &a.st.n.l.c.spares
	*a = attempt{}
	spares.attempts.Put(a)
}

// stuck fails a waiter that has had no reply, if its attempt is still not written a command
// timeout after it queued behind an earlier command of its owner (A7).
func (a *attempt) stuck() {
	defer a.st.n.l.s.Enter(section.MayBlock).Leave()
	if a.detached || a.w.Settled || a.w.wasRefused() {
		return
	}
	queued := a.inCommandQueue()
	if !queued && !a.cancel() {
		return // it was written, so its own send bounds the wait
	}
	a.w.fail(a.w.unsent(a.st.n.l.c.Exec.Trouble(a.st.n.l.Slot)))
	if queued {
		a.st.n.Step()
	} else {
		a.unsent()
	}
}

// Seen is the call that the command is a part of, which is no undo.
func (a *attempt) Seen() (*observe.Call, bool) { return a.w.call.seen, false }

// inCommandQueue tells whether the attempt waits for an earlier command of its
// owner.
func (a *attempt) inCommandQueue() bool { return !a.req.Begun() }

// unanswered tells whether the attempt may have reached the server.
func (a *attempt) unanswered() bool {
	return a.queued && !a.detached && (a.req.Reached() != 0 || !a.w.l.c.Exec.Waiting(&a.req))
}

// cancel takes the command back if it was not written yet. If it reports true, unsent must be
// called. It is called with the shard locked.
func (a *attempt) cancel() bool {
	if a.queued && !a.detached && a.st.n.l.c.Exec.Cancel(&a.req) {
		a.queued, a.w.ownerUsed = false, false
		return true
	}
	return false
}

// unsent ends an attempt that says nothing about the lock: it was not sent, its outcome is
// unknown, or its grant is gone again. The wake-up that it was made for stays pending.
func (a *attempt) unsent() {
	a.queue().Unsent(&a.w.Waiter.Waiter)
	a.end()
}
