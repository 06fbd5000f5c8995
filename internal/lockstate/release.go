package lockstate

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/watchdog"
)

// release is one unlock. All its repetitions carry one latch, so however many
// of them run, one of them counts (R1). That of an owner which is used once
// needs no latch; see once.go.
type release struct {
	req   command.Request
	st    *OwnerState
	l     *Lock         // of what kind the hold is
	want  kind.Want     // with a latch that never changes; without one if once
	lease time.Duration // what the holds that are left get
	undo  bool          // of what an acquire may have got
	rest  []kind.Call   // to be sent behind it
	form  *kind.Call    // another form of the same release, which is sent in the place of the first

	once   bool          // the form without a latch was sent
	lost   bool          // a send of it had no answer
	paused bool          // nothing of it is under way until a pause is over
	aside  bool          // it went aside and is counted for that
	split  bool          // its keys were in two places, see split.go
	limit  time.Duration // when its caller is told, whatever is known
	unheld time.Duration // when the server has dropped what is released, if nothing was sent

	resent   bool  // repeated because no replica had it
	failed   error // the last trouble
	reported bool  // its caller was told

	referenced bool        // a timer knows it
	queueTimer *time.Timer // tells who waits for the owner's command queue for too long
	limitTimer *time.Timer // tells who waits for an answer for too long

	counted    bool          // of a hold that the server counts until it runs
	alive      bool          // of a living hold
	since      time.Duration // when the hold's acquire was sent
	ownMessage bool          // its message is of no use to this client

	then    func(err error) // told the outcome, with the shard locked
	outcome chan error      // gets the outcome; has room for it
}

// leaseArg is a lease as the argument of a command.
func (c *State) leaseArg(d time.Duration) any {
	if d == c.o.Watchdog {
		return c.args.lease
	}
	return d.Milliseconds()
}

// latchTTL is how long the server remembers an unlock.
func (c *State) latchTTL() time.Duration { return 5*c.o.Timeout + time.Second }

// unlockLimit is the last instant at which an unlock that begins now is sent.
// The latch must outlive every send by a command timeout (R1).
func (n *name) unlockLimit() time.Duration { return n.now() + n.s.c.latchTTL() - n.s.c.o.Timeout }

// undoLimit is the limit of unlocks that give back what nobody holds: until
// they are answered, or the client is closed. Their owner is used once, so they
// may outlive their latch.
func (c *State) undoLimit() time.Duration { return watchdog.Never }

func newRelease(st *OwnerState, l *Lock, limit time.Duration) *release {
	r := releases.Get().(*release)
	r.st, r.l = st, l
	r.want = kind.Want{Names: &l.names, Owner: st, LatchTTL: l.c.args.latchTTL, Publish: l.publish()}
	r.req.Handler, r.limit = r, limit
	return r
}

// call is the command of the release.
func (r *release) call() kind.Call {
	r.want.Lease = r.l.c.leaseArg(r.lease)
	switch {
	case r.form != nil:
		return *r.form
	case r.undo:
		if calls := r.l.kind.Undo(&r.want, true); len(calls) > 0 {
			r.rest = calls[1:]
			return calls[0]
		}
	}
	return r.l.kind.Release(r.req.Wire.ArgBuffer[:0], &r.want)
}

// resend is what a kind says of a call, in the executor's terms.
func resend(c *kind.Call) command.Resend {
	switch c.Resend {
	case kind.Always:
		return command.Always
	case kind.Unrun:
		return command.Unrun
	}
	return command.Never
}

// begin sends the unlock. It runs with the shard locked, in the owner's command queue.
func (r *release) begin() {
	st := r.st
	c := st.n.s.c
	if r.lease == 0 {
		r.lease = c.o.Watchdog
	}
	if st.held > 0 {
		// The lease that the other holds need, not the longest they ever had
		// (H6).
		r.lease = st.commandLease(0)
	} else if st.lease != nil {
		st.lease.Forget()
		st.lease = nil
	}
	r.encode()
	r.send()
	if r.alive && st.held == 0 && !r.reported {
		r.ownMessage = st.n.handOff(r.l)
		st.n.noteRelease(r.l, r.since)
	}
}

// encode decides between the forms of the release, for its first send.
func (r *release) encode() {
	r.once = r.l.traits.Once && !r.st.shown
	r.req.Wire.KeepReply = r.once
	r.want.Latch, r.want.Alone = nil, false
	r.req.Until = r.limit
	if r.once {
		r.req.Until = max(r.limit, r.unheld)
	} else {
		r.want.Latch = r.l.freshLatch()
		if r.reported {
			// Its caller waits no longer; the server still counts the hold.
			r.req.Until = r.st.n.unlockLimit()
		}
	}
	call := r.call()
	r.l.fill(&r.req, call)
	r.req.Resend = resend(&call)
}

func (r *release) send() {
	st := r.st
	r.paused = false
	if r.once && st.shown {
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
	if !st.n.s.sec.enqueue(&r.req) {
		if err := r.req.Wire.Err; err != nil {
			r.failed = err
		}
		r.expire()
		return
	}
	r.countAside()
}

// Unanswered follows the loss of its connection. It is sent again behind the
// kill barrier; its latch keeps it from counting twice.
func (r *release) Unanswered(q *command.Request) {
	n := r.st.n
	defer n.s.enter(mustNotBlock).leave()
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
	defer n.s.enter(mustNotBlock).leave()
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
	n.s.c.after(d, func() {
		defer n.s.enter(mayBlock).leave()
		r.send()
	})
}

// Done takes the end of its command.
func (r *release) Done(q *command.Request) {
	s := r.st.n.s
	defer s.enter(mustNotBlock).leave()
	r.notUnderWay()
	if q.Fate != command.Answered || q.OutOfOrder {
		r.outOfOrder()
	}
	if q.Fate == command.Answered {
		r.sent()
		result, form, err := r.l.kind.Released(q.Wire.Reply, &r.want)
		switch {
		case err == nil && form != nil && r.form == nil:
			r.form = form
			r.l.fill(&r.req, *form)
			r.req.Resend = resend(form)
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
		return
	}
	switch r.failed = q.Wire.Err; {
	case q.Passing() || r.st.n.s.c.Closed() || q.Fate == command.Lost:
		r.expire()
	case q.MayHaveRun() && r.once && !r.st.shown:
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
	if c := r.st.n.s.c; !r.once && r.req.Until != watchdog.Never {
		r.req.Until = min(r.req.Until, r.req.First+c.latchTTL()-c.o.Timeout)
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
	if result != codec.NotHeld && q.Unreplicated {
		// Once more, with the same latch: it does not count twice.
		if !r.resent {
			r.resent = true
			r.send()
			return
		}
		err = fmt.Errorf("released, but %w", ErrUnreplicated)
	}
	if !q.MayArrive && r.want.Latch != nil {
		n.s.c.exec.Discard(r.l.slot, r.want.Latch)
	}
	if r.ownMessage && result != codec.Final {
		r.ownMessageMissed()
	}
	switch result {
	case codec.NotHeld:
		st.loseTally(r.l, errVanished)
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
		r.st.n.s.c.strays.add(r.st.owner)
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
