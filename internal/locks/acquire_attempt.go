package locks

import (
	"cmp"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
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
	lost       bool // a send of it was lost, and may have run
	rejected   bool // the server's error ended the wait, and what may have run is being undone
	referenced bool // a timer, or the goroutine that sends it again, refers to it
	stuckTimer *time.Timer
	left       bool // it no longer occupies its owner's command queue: that is free, or an undo has it
	detached   bool // it has ended
}

// try makes an attempt for w when the queue asks for one. It is called with the shard locked.
// The outcome is reported to the queue once: as granted, refused, unsent, rejected, troubled,
// or resolved after it was open.
func (w *Waiter) try() {
	n := w.n
	var st *OwnerState
	switch {
	case w.Terms.As:
		st = n.ensureMarked(w.Terms.Owner)
	case w.owner == Owner{} || w.ownerUsed:
		// An owner whose attempt may have been granted is not used again: the next attempt
		// could re-enter (A5). A refused attempt leaves no hold, so its owner is used again,
		// and keeps its place in the server's queue if the kind has one.
		w.owner, w.ownerUsed = w.l.Client.actors.ofAcquire(), false
		st = n.newOwnerState(w.owner)
	default:
		st = n.ensureOwnerState(w.owner)
	}
	if w.l.Traits.ByOwner && !w.Terms.As {
		if q := w.queue(); q.listens != w.owner { // it replaces one that is not used again
			q.listens = w.owner
			q.resubscribe()
		}
	}
	a := spare[attempt](&w.l.Client.spares.attempts)
	a.w, a.st, a.began = w, st, n.Now()
	if w.contended && w.l.Client.Observer != nil {
		w.seen().Woken(wakeNames[w.Woken])
	}
	w.tries++
	w.attempt = a
	st.attempts++
	w.l.Client.work.Add()
	if st.busy { // bounds the wait for an earlier command of the owner
		a.referenced = true
		a.stuckTimer = w.l.Client.timers.After(w.l.Client.Timeout, a.stuck)
	}
	st.run(a)
}

// Start queues the command. It runs with the shard locked, in the owner's
// command queue.
func (a *attempt) Start() {
	w, st := a.w, a.st
	if w.Terms.As && w.l.Client.actors.isStray(st.Owner) { // it became a stray while this attempt waited
		w.fail(strayed(st.Owner))
	}
	if w.Settled {
		a.unsent()
		return
	}
	w.ownerUsed = true
	a.req.Handler, a.req.Wire.Tentative = a, true
	if a.send(); !a.queued {
		a.failed()
	}
}

// send queues the command. If it may have run before, it says how many holds the owner has with this
// one, as of now: those that this client still trusts, and those whose unlocks wait behind it.
func (a *attempt) send() {
	w, st, n := a.w, a.st, a.st.name
	c := w.l.Client
	if st.lease == nil && !w.l.Traits.Unowned {
		st.register()
	}
	st.mixed = st.mixed || st.holds != nil && st.holds.lock.Traits.Tally != w.l.Traits.Tally
	a.want = w.want(st)
	a.lease = st.commandLease(cmp.Or(w.Terms.Lease, c.Watchdog))
	a.want.Lease = c.leaseArg(a.lease)
	a.forces = n.forces
	a.req.Aside = n.ahead > 0 && n.lock.shard.forcing == 0 // it follows this client's releases, but not while a ForceUnlock may still run
	a.req.Strict = w.l.Traits.Lasting
	call := w.l.kind.Acquire(a.req.Wire.ArgBuffer[:0], &a.want)
	if a.lost {
		call = kind.Again(call, int(st.tally(w.l)+behind(st, w.l))+1)
	}
	if a.lost || st.held > 0 {
		// In a half moved slot each send ends the attempt. The executor would keep the attempt,
		// and with it the command queue, while the holds must be renewed (H6).
		a.req.Resend = kind.Unrun
	}
	a.req.Fill(w.l.slot, call, c.Replicas)
	a.queued = n.lock.shard.enqueue(&a.req)
	if a.queued && n.ahead > 0 && !a.req.WentAside {
		// The server may refuse it before a release that was queued earlier has run. So every
		// message counts from now on.
		if q := w.queue(); q != nil {
			q.HearOwnMessages()
		}
	}
}

// queue is the wait queue that the attempt reports to. It is made again if the waiter has left
// and was the last one there.
func (a *attempt) queue() *queue { return a.st.name.ensureQueue(a.w.l, a.w.queueOwner) }

// Answered handles the server's reply.
func (a *attempt) Answered(r *command.Request) {
	defer a.st.name.lock.shard.enter(mustNotBlock).leave()
	a.answered(r)
}

// answered handles the server's reply. It is called with the shard locked.
func (a *attempt) answered(r *command.Request) {
	if a.lost && kind.Gone(r.Wire.Reply) {
		a.gone()
		return
	}
	g, err := a.w.l.kind.Granted(r.Wire.Reply)
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

// Rest goes on with an attempt that was not sent, was lost, or was answered with an error.
func (a *attempt) Rest(r *command.Request) {
	defer a.st.name.lock.shard.enter(mayBlock).leave()
	if r.Fate != command.Lost {
		a.failed()
		return
	}
	a.wasLost()
	switch {
	case a.again():
	case a.w.Terms.As:
		a.retract()
	default:
		a.undo()
	}
}

// wasLost follows a send that was lost: it may have run, and bytes of it may still be on their way.
func (a *attempt) wasLost() {
	st, r := a.st, &a.req
	a.lost = true
	st.mayHaveSet(r.Wire.Sent, a.lease)
	a.queue().Open(st.name.Now(), &a.w.Waiter, r.Wire.Err, a.began, false)
	st.name.step()
	st.name.lock.shard.barrier(r) // nothing else is tried before this returns (A5)
}

// refused handles the answer that another owner holds the lock.
func (a *attempt) refused(g kind.Grant) {
	q := a.queue()
	q.unset, a.w.unset = g.Unset, g.Unset
	if !a.w.l.Traits.ByOwner { // such a kind replies how long the place in its queue may wait, and -1 for one far back
		q.ttl, a.w.ttl = g.TTL, g.TTL
	}
	if w := a.w; !w.Refused && !w.OneTry && !w.Settled {
		w.l.Client.Log.Waiting(w.l.shard, eventlog.Lock{Name: w.n.lock.name}, g.TTL)
	}
	a.w.ownerUsed = false
	if !a.w.contended && !a.w.Settled { // a caller that has left tells what it saw without the mutex
		a.w.waitsForOthers()
	}
	pause := a.w.l.pause(a.w.tries, g)
	if place := a.w.Terms.Place; place > 0 && a.w.l.Traits.ByOwner {
		pause = min(pause, place) // its place may expire, and so may that of a waiter that died before it
	}
	q.Refused(a.st.name.Now(), &a.w.Waiter, q.unheard(pause))
	a.w.asked()
	a.end()
	a.done()
}

// failed decides how an attempt ends that the server answered with an error, or that was not
// sent.
func (a *attempt) failed() {
	switch r := &a.req; {
	case r.Fate == command.Closed || a.st.name.lock.Client.Closed():
		a.reject(ErrClosed)
	case r.Fate == command.NotSent && (!r.Permanent() || a.w.facts().Refused):
		a.didNotRun(r.Wire.Err)
	case r.MayHaveRun():
		a.ranInPart(inPart(r.Wire.Err))
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
		a.queue().Open(a.st.name.Now(), &a.w.Waiter, err, a.began, a.req.Moving())
	default:
		a.rejected = true
		a.w.fail(err)
	}
	a.undo()
	a.st.name.step()
}

// passing tells whether the wait goes on despite the server's error.
func (a *attempt) passing() bool {
	return a.req.Transient() || a.req.Refusal().MetElsewhere() || a.w.facts().Refused && a.req.Passing()
}

// reject ends the attempt, and the wait with an error.
func (a *attempt) reject(err error) {
	a.queue().Rejected(&a.w.Waiter, err)
	a.end()
}

// retryLater ends the attempt. Another is made after a pause, unless the waiter gives up
// before.
func (a *attempt) retryLater(err error) {
	if q := a.queue(); a.req.Moving() {
		q.Unsettled(a.st.name.Now(), &a.w.Waiter, err, a.began)
	} else {
		q.Troubled(a.st.name.Now(), &a.w.Waiter, err, a.began)
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
	a.queue().Resolved(&a.w.Waiter)
	a.end()
}

// end ends the attempt for its waiter and for its owner's command queue. Only the first call
// does anything. The report to the wait queue comes before it.
func (a *attempt) end() {
	if a.detached {
		return
	}
	a.detached = true
	st, n, c := a.st, a.st.name, a.w.l.Client
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

// done recycles the attempt at the end of Answered. By then only a timer can still refer to it.
func (a *attempt) done() {
	if a.referenced {
		return
	}
	spares := &a.st.name.lock.Client.spares
	*a = attempt{}
	spares.attempts.Put(a)
}

// stuck fails a waiter that has had no reply, if its attempt is still not written a command
// timeout after it queued behind an earlier command of its owner (A7).
func (a *attempt) stuck() {
	defer a.st.name.lock.shard.enter(mayBlock).leave()
	if a.detached || a.lost || a.w.Settled || a.w.facts().Refused {
		return
	}
	queued := a.inCommandQueue()
	if !queued && !a.cancel() {
		return // it was written, so its own send bounds the wait
	}
	a.w.fail(a.w.unsent(a.st.name.lock.Client.exec.Trouble(a.st.name.lock.slot)))
	if queued {
		a.st.name.step()
	} else {
		a.unsent()
	}
}

// inCommandQueue tells whether the attempt waits for an earlier command of its
// owner.
func (a *attempt) inCommandQueue() bool { return !a.req.Begun() }

// unanswered tells whether the attempt may have reached the server.
func (a *attempt) unanswered() bool {
	return a.queued && !a.detached && (a.req.Reached() != 0 || !a.w.l.Client.exec.Unwritten(&a.req))
}

// cancel takes the command back if it was not written yet. If it reports true, unsent must be
// called. If an earlier send was lost, only the last one is taken back, and what the earlier one may
// have done is undone. It is called with the shard locked.
func (a *attempt) cancel() bool {
	if !a.queued || a.detached || !a.st.name.lock.Client.exec.Cancel(&a.req) || a.lost {
		return false
	}
	a.queued, a.w.ownerUsed = false, false
	return true
}

// unsent ends an attempt that says nothing about the lock: it was not sent, its outcome is
// unknown, or its grant is gone again. The wake-up that it was made for stays pending.
func (a *attempt) unsent() {
	a.queue().Unsent(&a.w.Waiter)
	a.end()
}

// granted turns a grant into a hold and gives it to the waiter. A grant that nobody wants any
// more, or that can no longer be trusted, is given back.
func (a *attempt) granted(r *command.Request, token int64) {
	st, w, n := a.st, a.w, a.st.name
	if w.l.Traits.Width == 1 && n.holders > min(st.held, 1) || w.l.Traits.Width != 1 && n.exclusive > 0 {
		n.supersede(st, w.l.Traits.Width, r.Wire.Sent)
	}
	h, ok := st.grant(w.l, &w.Terms, r.Wire.Sent, a.lease)
	if (w.mustLeave || a.lost) && w.l.Traits.ByOwner && n.lock.Client.failsOver { // also for a grant that is given back
		st.ensureExtras().place = &placeTaken{wait: w.place}
	}
	if !ok || w.Settled || a.forces != n.forces || r.Unreplicated {
		a.grantedInVain(r, h, ok)
		return
	}
	w.hold = h
	if token > 0 {
		st.ensureExtras().token = token
	}
	if n.lone == w {
		n.lone, w.Settled = nil, true
		w.ready <- struct{}{}
	} else {
		a.reportGrant()
		for q := range n.eachQueue {
			if q.Shares() {
				q.LetThrough(st.Owner) // waiters of this owner would wait for themselves (A3)
			}
		}
	}
	a.end()
	if w.tries == 1 {
		w.done()
	}
	a.done()
}

// reportGrant tells the queue that the lock is taken now.
func (a *attempt) reportGrant() {
	q := a.queue()
	q.Granted(a.st.name.Now(), &a.w.Waiter, q.unheard(a.w.l.pause(0, kind.Grant{OK: true, TTL: a.lease})))
}

// grantedInVain ends an attempt whose grant the waiter can't have. ok tells whether the hold
// can be trusted.
func (a *attempt) grantedInVain(r *command.Request, h *Hold, ok bool) {
	st, w, n := a.st, a.w, a.st.name
	switch {
	case !ok:
		st.drop(h)
		st.mayHaveSet(r.Wire.Sent, a.lease)
		st.updateLease()
		why := lostBy(errExpired)
		if w.Settled { // nobody has lost what no caller had
			why = ErrReleased
		}
		h.over(why)
		giveBack(h)
		w.fail(fmt.Errorf("%w: its reply took longer than the lease of %v", ErrLeaseLost, st.least(r.Wire.Sent, a.lease)))
	case r.Unreplicated:
		err := unreplicated(r)
		w.vain = err
		n.lock.Client.Log.Unreplicated(n.lock.shard, st.eventLock(), r.Wire.Replicas, err)
		if st.held == 1 { // the owner held nothing before
			a.leaveRoom(n.Now() - r.Wire.Sent)
		}
		a.giveBackFirst(h, func() { a.retryLater(err) })
		return
	case a.forces != n.forces:
		// A ForceUnlock was queued after it and has deleted what was granted.
		a.giveBackFirst(h, a.unsent)
		return
	default: // its caller has left
		giveBack(h)
	}
	a.reportGrant()
	a.end()
}

// again sends a lost acquire again until it is answered. It says how many holds the owner has with
// this one, so it may run any number of times: what an earlier send got, the caller keeps, and a
// waiter in the server's queue has its place. It reports false if the acquire must be undone. It is
// called in the owner's command queue, behind the kill barrier.
func (a *attempt) again() (answered bool) {
	r, s := &a.req, a.st.name.lock.shard
	a.referenced = true
	for a.mayRepeat() {
		r.Until = clock.Never // its caller bounds it
		if a.send(); !a.queued {
			return false
		}
		s.await(r)
		switch {
		case r.Fate == command.Answered:
			a.answered(r)
			return true
		case r.Fate == command.Lost:
			a.wasLost()
		case r.Again > 0 && (r.Fate == command.NotSent || a.passing() && !r.Moving()):
			a.st.pause(r.Again)
		default:
			return false
		}
	}
	return false
}

// mayRepeat tells whether the acquire may be sent again: its caller waits, no earlier send can run
// any more, and only this client acts for the owner, so that nobody else changes its count.
func (a *attempt) mayRepeat() bool {
	w, c := a.w, a.w.l.Client
	return w.l.Traits.Repeats && !w.Settled && !a.req.MayArrive && c.actors.exclusive(a.st.Owner) && !c.Closed()
}

// gone ends an attempt that the server answered otherwise: the owner's other holds, on top of which
// it was to be, are gone. They end, and the wait goes on as a first acquire.
func (a *attempt) gone() {
	a.st.lose(a.w.l, errVanished)
	a.resumeAs()
}
