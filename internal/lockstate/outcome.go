package lockstate

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
)

// Unanswered follows the loss of its connection. It may have run; bytes of it
// may still be on their way.
func (a *attempt) Unanswered(r *command.Request) {
	defer a.st.n.l.s.enter(mustNotBlock).leave()
	a.st.mayHaveSet(r.Wire.Sent, a.lease)
	a.queue().Open(a.st.n.now(), &a.w.Waiter, r.Wire.Err, a.began)
	a.st.n.step()
}

// Paused never comes: an acquire is never sent again.
func (a *attempt) Paused(*command.Request, time.Duration) {}

// notAnswered handles the end of a command that the server did not answer, or
// refused.
func (a *attempt) notAnswered(r *command.Request) {
	switch {
	case r.Fate != command.Lost:
		a.failed()
	case a.w.Terms.As:
		// Only now is anything else tried (A5).
		a.countHolds()
	default:
		a.undo()
	}
}

// refused handles the answer that another owner holds the lock.
func (a *attempt) refused(g kind.Grant) {
	if w := a.w; !w.Told && !w.OneTry && !w.Settled {
		w.l.c.log.Waiting(&w.l.s.sec, eventlog.Lock{Name: w.n.l.name}, g.TTL)
	}
	a.w.ownerUsed = false
	if !a.w.contended {
		a.w.waitsForOthers()
	}
	a.queue().Refused(a.st.n.now(), &a.w.Waiter, a.w.l.pause(a.w.tries, g))
	a.w.asked()
	a.end()
	a.done()
}

// reportGrant tells the queue that the lock is taken now.
func (a *attempt) reportGrant() {
	a.queue().Granted(a.st.n.now(), &a.w.Waiter, a.w.l.pause(0, kind.Grant{OK: true, TTL: a.lease}))
}

// grantedInVain ends an attempt whose grant is not the waiter's to keep. ok tells
// whether the hold can be trusted.
func (a *attempt) grantedInVain(r *command.Request, h *Hold, ok bool) {
	st, w, n := a.st, a.w, a.st.n
	switch {
	case !ok:
		st.drop(h)
		st.mayHaveSet(r.Wire.Sent, a.lease)
		st.updateLease()
		h.over(lostBy(errExpired))
		h.giveBack()
		w.fail(fmt.Errorf("%w: its reply took longer than the lease of %v", ErrLeaseLost, st.least(r.Wire.Sent, a.lease)))
	case r.Unreplicated:
		n.l.c.log.Unreplicated(&n.l.s.sec, st.told(), r.Wire.Replicas)
		if st.held == 1 { // it was free before
			a.leaveRoom(n.now() - r.Wire.Sent)
		}
		a.giveBackFirst(h, func() { a.retryLater(ErrUnreplicated) })
		return
	case a.forces != n.forces:
		// A ForceUnlock was queued behind it: the grant is gone again.
		a.giveBackFirst(h, a.unsent)
		return
	default: // its caller has left
		h.giveBack()
	}
	a.reportGrant()
	a.end()
}

// giveBackFirst gives a grant back and goes on for the waiter only after that,
// so that the waiter's next attempt is not refused by this grant.
func (a *attempt) giveBackFirst(h *Hold, then func()) {
	h.release(func(err error) {
		a.st.logGivenBack(err)
		then()
	}, new(unlocking))
	a.left = true
	a.st.done()
}

// leaveRoom is called before a grant is given back that kept others out for a time,
// and that the next one of this client would follow: what of it was not written yet is
// taken back.
func (a *attempt) leaveRoom(kept time.Duration) {
	q := a.queue()
	q.GivesBack(q.n.now(), kept)
	var back []*attempt
	for w := range q.All() {
		if other := w.Call.(*Waiter).attempt; !w.OneTry && other != nil && other != a && other.cancel() {
			back = append(back, other)
		}
	}
	for _, other := range back {
		other.unsent()
	}
}

// failed decides what an attempt becomes that the server refused, or was never
// asked for.
func (a *attempt) failed() {
	switch r := &a.req; {
	case r.Fate == command.Closed || a.st.n.l.c.Closed():
		a.reject(ErrClosed)
	case r.Fate == command.NotSent && (!r.Permanent() || a.w.wasRefused()):
		a.didNotRun(r.Wire.Err)
	case r.MayHaveRun():
		a.ranInPart(r.Wire.Err)
	case a.passing():
		a.didNotRun(r.Wire.Err)
	default: // what was not sent would meet the same refusal again
		a.reject(r.Wire.Err)
	}
}

// ranInPart gives back what a script may have got that ended with an error, or
// with a reply of another shape.
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
		a.queue().Open(a.st.n.now(), &a.w.Waiter, err, a.began)
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
	a.queue().Rejected(&a.w.Waiter, err)
	a.end()
}

// retryLater ends the attempt and has it made again after a pause, unless the
// waiter gives up before.
func (a *attempt) retryLater(err error) {
	a.queue().Troubled(a.st.n.now(), &a.w.Waiter, err, a.began)
	a.end()
}

// didNotRun is retryLater for an attempt of which nothing ran. So its owner was not
// used, and keeps the place in the server's queue that it may have.
func (a *attempt) didNotRun(err error) {
	a.w.ownerUsed = false
	a.retryLater(err)
}

// resolve ends an attempt that was open: what came of it is known, or undone.
func (a *attempt) resolve() {
	if a.rejected {
		a.unsent()
		return
	}
	a.queue().Resolved(&a.w.Waiter)
	a.end()
}

// supersede ends the holds of all owners but st, which the server has just
// named a holder of a kind of such a width: all if it is 1, else those of kinds of
// width 1. Replies come in order on one connection, so any other hold of
// this client was granted before, and the server has lost it since; where there
// are two, that is certain of those whose acquire was sent before.
func (n *name) supersede(st *OwnerState, width int, sent time.Duration) {
	for _, other := range n.ownerStates() {
		if other == st || other.held == 0 || other.find(func(h *Hold) bool { return h.since > sent }) != nil {
			continue
		}
		cause := errSuperseded
		if n.now() >= other.lease.Expiry() {
			cause = errExpired // which nobody was told of yet
		}
		if width == 1 {
			other.lose(nil, cause)
		} else if h := other.find(func(h *Hold) bool { return h.l.traits.Width == 1 }); h != nil {
			other.lose(h.l, cause)
		}
	}
}

// find is a living hold that is such a one, nil if there is none.
func (st *OwnerState) find(such func(*Hold) bool) *Hold {
	for h := st.holds; h != nil; h = h.next {
		if such(h) {
			return h
		}
	}
	return nil
}
