package lockstate

import (
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/watchdog"
)

// release is one unlock. All its repetitions carry one latch, so however many
// of them run, one of them counts (R1).
type release struct {
	req   command.Request
	st    *OwnerState
	l     *Lock         // of what kind the hold is
	want  kind.Want     // with a latch that never changes
	lease time.Duration // what the holds that are left get
	undo  bool          // of what an acquire may have got
	rest  []kind.Call   // to be sent behind it
	form  *kind.Call    // another form of the same release, which is sent in the place of the first

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
func (n *name) unlockLimit() time.Duration { return n.now() + n.c.latchTTL() - n.c.o.Timeout }

// undoLimit is the limit of unlocks that give back what nobody holds: until
// they are answered, or the client is closed. Their owner is used once, so they
// may outlive their latch.
func (c *State) undoLimit() time.Duration { return watchdog.Never }

func newRelease(st *OwnerState, l *Lock, limit time.Duration) *release {
	r := releases.Get().(*release)
	r.st, r.l = st, l
	r.want = kind.Want{Names: &l.names, Owner: st, Latch: l.freshLatch(), LatchTTL: l.c.args.latchTTL, Publish: l.publish()}
	r.req.Handler, r.req.Until = r, limit
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
	c := st.n.c
	if r.reported {
		// Its caller waits no longer; the server still counts the hold.
		r.req.Until = st.n.unlockLimit()
	}
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
	call := r.call()
	r.l.fill(&r.req, call)
	r.req.Resend = resend(&call)
	r.send()
	if r.alive && st.held == 0 && !r.reported {
		r.ownMessage = st.n.handOff(r.l)
		st.n.noteRelease(r.l, r.since)
	}
}

func (r *release) send() {
	st := r.st
	if r.reported && (r.req.First != 0 || st.held == 0) {
		// The outcome was reported at the limit, and the next command in the
		// command queue must not wait for ever. The key of the last hold
		// expires. One hold of several would be counted for as long as the
		// others are renewed.
		r.finishCommand()
		return
	}
	if !st.n.s.sec.again(&r.req) {
		if err := r.req.Wire.Err; err != nil {
			r.failed = err
		}
		r.expire()
	}
}

// Unanswered follows the loss of its connection. It is sent again behind the
// kill barrier; its latch keeps it from counting twice.
func (r *release) Unanswered(q *command.Request) {
	n := r.st.n
	defer n.s.enter(mustNotBlock).leave()
	r.outOfOrder()
	r.sent()
	r.st.mayHaveSet(q.Wire.Sent, r.lease)
	r.failed = q.Wire.Err
	r.referenced = true
	r.reportAtLimit()
}

// reportAtLimit has the caller told at the limit. The server may stay away; the
// caller need not.
func (r *release) reportAtLimit() {
	n := r.st.n
	if r.req.Until == watchdog.Never || r.limitTimer != nil {
		return
	}
	r.limitTimer = n.c.after(max(r.req.Until-n.now(), 0)+time.Millisecond, func() {
		defer n.s.enter(mayBlock).leave()
		r.reportIfLate()
	})
}

// reportIfLate tells the caller what is known when the limit has passed. What
// waits to be written is taken back. It is called with the shard locked.
func (r *release) reportIfLate() {
	c := r.st.n.c
	switch {
	case r.reported || r.st.n.now() <= r.req.Until: // Close runs all timers at once
	case !r.req.Begun():
		r.report(fmt.Errorf("%w: an earlier command of owner %s is still without an answer", ErrUncertain, r.st.owner))
	case r.req.First != 0:
		r.report(r.uncertain())
	case c.exec.Cancel(&r.req):
		if r.failed == nil {
			r.failed = errUnwritten
		}
		r.expire()
	default:
		r.report(fmt.Errorf("%w: the unlock is still without an answer", ErrUncertain))
	}
}

var errUnwritten = errors.New("it waited behind an earlier command of its owner, and then to be written")

// Paused has it sent again after d: behind the barrier, or because what was
// refused or never left did not run.
func (r *release) Paused(q *command.Request, d time.Duration) {
	n := r.st.n
	defer n.s.enter(mustNotBlock).leave()
	r.referenced = true
	if d == 0 {
		r.send()
		return
	}
	r.outOfOrder()
	r.failed = q.Wire.Err
	r.reportAtLimit()
	if !q.MayArrive {
		r.st.pause(d, r.send)
		return
	}
	// An earlier send may still set the lease, so nothing comes in between.
	n.c.after(d, func() {
		defer n.s.enter(mayBlock).leave()
		r.send()
	})
}

// Done takes the end of its command.
func (r *release) Done(q *command.Request) {
	s := r.st.n.s
	defer s.enter(mustNotBlock).leave()
	if q.Fate != command.Answered || q.OutOfOrder() {
		r.outOfOrder()
	}
	if q.Fate == command.Answered {
		r.sent()
		result, form, err := r.l.kind.Released(q.Wire.Reply, &r.want)
		switch {
		case err == nil && !form.Empty() && r.form == nil:
			second := form
			r.form = &second
			r.l.fill(&r.req, form)
			r.req.Resend = resend(&form)
			r.send()
			return
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
	case q.Passing() || r.st.n.c.Closed() || q.Fate == command.Lost:
		r.expire()
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
	if c := r.st.n.c; r.req.Until != watchdog.Never {
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

// expire ends a release whose limit has passed or whose client was closed.
func (r *release) expire() {
	switch {
	case r.req.First != 0:
		r.finish(r.uncertain())
	case r.st.n.c.Closed():
		r.finish(ErrClosed)
	default:
		r.finish(fmt.Errorf("not released, the key is left to expire: %w", r.failed))
	}
}

func (r *release) uncertain() error {
	return fmt.Errorf("%w: the unlock was sent and never answered; if it did not run, the key is left to expire: %w", ErrUncertain, r.failed)
}

// answered handles the server's result.
func (r *release) answered(q *command.Request, result kind.Release) {
	st := r.st
	n := st.n
	var err error
	if result != codec.NotHeld && q.Unreplicated() {
		// Once more, with the same latch: it does not count twice.
		if !r.resent {
			r.resent = true
			r.send()
			return
		}
		err = fmt.Errorf("released, but %w", errUnreplicated)
	}
	if !q.MayArrive && r.want.Latch != nil {
		n.c.exec.Discard(r.l.slot, r.want.Latch)
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

// report reports the outcome to the caller, once.
func (r *release) report(err error) {
	if !r.reported {
		r.reported = true
		r.st.n.c.timers.cancel(r.limitTimer)
		r.st.n.c.timers.cancel(r.queueTimer)
		if r.outcome != nil {
			r.st.n.c.releases.done()
			r.outcome <- err
		} else {
			r.then(err)
		}
	}
}

// finish reports the outcome and ends the command.
func (r *release) finish(err error) {
	r.report(err)
	r.finishCommand()
}

// finishCommand ends the release in its owner's command queue. If the server
// has answered, the latch keeps late copies of the command from running.
func (r *release) finishCommand() {
	if r.req.MayArrive && r.req.Fate != command.Answered {
		r.st.mayArrive(r.lease)
	}
	if len(r.rest) > 0 {
		(&cleanup{st: r.st, calls: r.rest}).begin()
		return
	}
	r.st.done()
}
