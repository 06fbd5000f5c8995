package lockstate

import (
	"fmt"
	"math"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/watchdog"
)

// A release that is not simply answered goes on here: it is sent again, in another
// form, or ends otherwise.

// unlockLimit is the last instant at which an unlock that begins now is sent.
func (n *name) unlockLimit() time.Duration { return n.now() + n.l.c.unlockFor }

// undoLimit is the limit of unlocks that give back what nobody holds: until
// they are answered, or the client is closed. Their owner is used once, so they
// may outlive their latch.
func (c *State) undoLimit() time.Duration { return watchdog.Never }

// leave has the release leave its owner's other holds a lease.
func (r *release) leave(lease time.Duration) {
	r.lease = lease
	r.want.Lease = r.l.c.leaseArg(lease)
}

// call is the command of the release.
func (r *release) call() kind.Call {
	if r.form != nil {
		return *r.form
	}
	call := r.l.kind.Release(r.req.Wire.ArgBuffer[:0], &r.want)
	if r.undo {
		call = r.undoing(call)
	}
	return call
}

// undoing is the command of a release that undoes an acquire, and keeps what is to be
// sent behind it; plain, if the kind has nothing else to send.
func (r *release) undoing(plain kind.Call) kind.Call {
	calls := r.l.kind.Undo(&r.want, true)
	if len(calls) == 0 {
		return plain
	}
	r.rest = calls[1:]
	return calls[0]
}

// notSent ends a release that can't be sent any more.
func (r *release) notSent() {
	if err := r.req.Wire.Err; err != nil {
		r.failed = err
	}
	r.expire()
}

// answeredOtherwise takes an answer that is not plainly the end of it.
func (r *release) answeredOtherwise(q *command.Request, result kind.Release, form *kind.Call, err error) {
	r.sent()
	switch {
	case err == nil && form != nil && r.form == nil:
		r.form = form
		r.l.fill(&r.req, *form)
		r.req.Resend = form.Resend
		r.send()
		return
	case err == nil && r.once:
		r.answeredOnce(q, result)
	case err == nil:
		r.answered(q, result)
	default:
		r.st.mayHaveSet(q.Wire.Sent, r.lease)
		r.finish(err)
	}
	r.done()
}

// send sends it again.
func (r *release) send() {
	st := r.st
	r.paused = false
	if r.mayMeetAnother() {
		r.finish(nil)
		return
	}
	if r.once && st.shown() {
		if r.req.First != 0 {
			r.countOnce()
			return
		}
		r.encode() // with a latch: nothing of it has run
	}
	if r.reported && !r.once && (r.req.First != 0 || st.held == 0 && !r.split) {
		// The outcome was reported at the limit, and the next command in the
		// command queue must not wait for ever. The key of the last hold
		// expires. One hold of several would be counted for as long as the
		// others are renewed.
		r.finishCommand()
		return
	}
	r.req.Aside = r.goesAside()
	if !st.n.l.s.sec.enqueue(&r.req) {
		r.notSent()
		return
	}
	r.countAside()
}

// Unanswered follows the loss of its connection. It is sent again behind the
// kill barrier; its latch keeps it from counting twice.
func (r *release) Unanswered(q *command.Request) {
	n := r.st.n
	defer n.l.s.enter(mustNotBlock).leave()
	r.notUnderWay()
	r.outOfOrder()
	r.sent()
	r.st.mayHaveSet(q.Wire.Sent, r.lease)
	r.failed, r.lost = q.Wire.Err, true
	r.referenced = true
	r.reportAtLimit()
}

// Paused has it sent again after d: behind the barrier, or because what was
// refused or never left did not run.
func (r *release) Paused(q *command.Request, d time.Duration) {
	n := r.st.n
	defer n.l.s.enter(mustNotBlock).leave()
	r.notUnderWay()
	r.referenced = true
	if d == 0 {
		r.send()
		return
	}
	r.outOfOrder()
	r.failed, r.paused = q.Wire.Err, true
	if q.Split() && r.sentAlone() {
		return
	}
	r.reportAtLimit()
	if !q.MayArrive {
		r.st.pause(d, r.send)
		return
	}
	// An earlier send may still set the lease, so nothing comes in between.
	n.l.c.timers.After(d, func() {
		defer n.l.s.enter(mayBlock).leave()
		r.send()
	})
}

// notAnswered takes the end of a command that the server did not answer, or
// refused.
func (r *release) notAnswered(q *command.Request) {
	r.outOfOrder()
	switch r.failed = q.Wire.Err; {
	case q.Passing() || r.st.n.l.c.Closed() || q.Fate == command.Lost:
		r.expire()
	case q.MayHaveRun() && r.once && !r.st.shown():
		r.askWhetherItRan(q.Wire.Err)
	case q.MayHaveRun():
		r.sent()
		r.st.mayHaveSet(q.Wire.Sent, r.lease)
		r.finish(q.Wire.Err)
	case q.First != 0:
		r.finish(r.uncertain()) // a repetition was refused; the send that was lost may have run
	default:
		r.finish(q.Wire.Err)
	}
}

// sent bounds the repetitions: the latch must outlive each of them (R1).
func (r *release) sent() {
	if c := r.st.n.l.c; !r.once && r.req.Until != watchdog.Never {
		r.req.Until = min(r.req.Until, r.req.First+c.unlockFor)
	}
}

// outOfOrder follows an unlock that ran behind what was to follow it, or not at
// all so far.
func (r *release) outOfOrder() {
	if r.ownMessage {
		r.ownMessageMissed()
	}
}

// answered handles the server's result.
func (r *release) answered(q *command.Request, result kind.Release) {
	st := r.st
	n := st.n
	var err error
	if result != codec.NotHeld && q.Unreplicated && r.outcome != nil {
		// Once more, with the same latch: it does not count twice.
		if !r.resent {
			r.resent = true
			r.send()
			return
		}
		err = fmt.Errorf("released, but %w", ErrUnreplicated)
	}
	if !q.MayArrive && r.want.Latch != nil && !r.keepsLatch {
		n.l.c.exec.Discard(r.l.slot, r.want.Latch)
	}
	if r.ownMessage && result != codec.Final {
		r.ownMessageMissed()
	}
	switch result {
	case codec.NotHeld:
		st.loseTally(r.l, errVanished)
		if q.MayArrive {
			n.l.c.stray(st.owner) // no latch was set that would keep it from running
		}
		if r.alive {
			n.wakeHead() // it published nothing
		}
		if r.lost && r.alive && !r.l.traits.Silent {
			r.announce()
			return
		}
		r.finish(notHeld(st.owner))
	case codec.Final:
		st.loseTally(r.l, errVanished)
		r.finish(err)
	case codec.Partial:
		if st.held > 0 {
			st.leased(q.First, r.lease)
		}
		r.finish(err)
	}
}

// ownMessageMissed is called when the unlock did not release as expected.
func (r *release) ownMessageMissed() {
	r.ownMessage = false
	if q := r.st.n.findQueue(r.l, Owner{}); q != nil {
		q.ResetOwnMessages()
	}
	r.st.n.step()
}

// finish reports the outcome and ends the command.
func (r *release) finish(err error) {
	r.report(err)
	r.finishCommand()
}

// finishCommand ends the release in its owner's command queue. If the server
// has answered, the latch keeps late copies of the command from running.
func (r *release) finishCommand() {
	r.notUnderWay()
	if r.once && r.req.MayArrive {
		r.st.n.l.c.stray(r.st.owner)
	}
	if r.req.MayArrive && r.req.Fate != command.Answered {
		r.st.mayArrive(r.lease)
	}
	if len(r.rest) > 0 {
		(&cleanup{st: r.st, calls: r.rest}).begin()
		return
	}
	r.st.done()
}

// Where there are two connections for commands, a release goes aside, and an
// acquire of the same name that is queued later could run before it and be refused.
// So while the answer of such a release is not there, acquires follow it. If one
// can't, the message of the release counts. Should the release itself be handed
// from one connection to the other, it is out of order and says so.
//
// A ForceUnlock does not go aside. While one may still run, no acquire does: what
// is granted behind it must be sent behind it.

// goesAside decides whether the release goes aside. One too many to be counted
// does not.
func (r *release) goesAside() bool { return r.st.n.aside < math.MaxInt16 }

// countAside counts a release that was queued and went aside.
func (r *release) countAside() {
	if r.req.WentAside && !r.aside {
		r.aside = true
		r.st.n.aside++
	}
}

// notUnderWay ends what countAside began: it is answered, or its connection was lost.
func (r *release) notUnderWay() {
	if r.aside {
		r.aside = false
		r.st.n.aside--
	}
}
