package rlock

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/watchdog"
)

// release is one unlock. All its repetitions carry one latch, so however many
// of them run, one of them counts (R1).
type release struct {
	req   pipeline.Request
	st    *ownerState
	latch any           // boxed once
	lease time.Duration // what the holds that are left get

	limit    time.Duration // not sent again after this
	first    time.Duration // when it was first sent; 0: not yet
	resent   bool          // repeated because no replica had it
	open     bool          // an earlier send may still arrive: the latch must stay
	failed   error         // the last trouble
	pause    time.Duration
	reported bool

	referenced bool        // a timer knows it, or a connection's kill barrier
	queueTimer *time.Timer // tells who waits for the owner's command queue for too long
	limitTimer *time.Timer // tells who waits for an answer for too long

	counted    bool          // in the owner's unsent
	alive      bool          // of a living hold
	since      time.Duration // when the hold's acquire was sent
	ownMessage bool          // its message is of no use to this client

	then    func(err error) // told the outcome, with the shard locked
	outcome chan error      // gets the outcome; has room for it
}

// leaseArg is a lease as the argument of a command.
func (c *Client) leaseArg(d time.Duration) any {
	if d == c.o.watchdog {
		return c.args.lease
	}
	return d.Milliseconds()
}

// latchTTL is how long the server remembers an unlock.
func (c *Client) latchTTL() time.Duration { return 5*c.o.timeout + time.Second }

// unlockLimit is the last instant at which an unlock that begins now is sent.
// The latch must outlive every send by a command timeout (R1).
func (c *Client) unlockLimit() time.Duration { return c.early() + c.latchTTL() - c.o.timeout }

// undoLimit is the limit of unlocks that give back what nobody holds: until
// they are answered, or the client is closed. Their owner is used once, so they
// may outlive their latch.
func (c *Client) undoLimit() time.Duration { return watchdog.Never }

func newRelease(st *ownerState, limit time.Duration) *release {
	r := releases.Get().(*release)
	r.st, r.limit, r.latch, r.pause = st, limit, codec.FreshLatch(st.n.l.mapped()), firstPause
	return r
}

// begin sends the unlock. It runs with the shard locked, in the owner's command queue.
func (r *release) begin() {
	st := r.st
	c := st.n.c
	c.timers.cancel(r.queueTimer)
	if r.counted {
		r.counted = false
		st.unsent--
	}
	if r.reported {
		// Its caller waits no longer; the server still counts the hold.
		r.limit = c.unlockLimit()
	}
	if r.lease == 0 {
		r.lease = c.o.watchdog
	}
	if st.held > 0 {
		// The lease that the other holds need, not the longest they ever had
		// (H6).
		r.lease = st.commandLease(0)
	} else if st.lease != nil {
		st.lease.Forget()
		st.lease = nil
	}
	l := st.n.l
	r.req.Done, r.req.Wait = r, c.o.replicas
	r.req.Call(l.kind.release(r.req.ArgBuffer[:0], l.key, l.channel, r.latch, st, c.leaseArg(r.lease), c.args.latchTTL))
	r.send()
	if r.alive && st.held == 0 && !r.reported {
		r.ownMessage = st.n.queue != nil && st.n.queue.handOff()
		st.n.noteRelease(r.since)
	}
}

func (r *release) send() {
	c := r.st.n.c
	if r.reported && (r.first != 0 || r.st.held == 0) {
		// The outcome was reported at the limit, and the next command in the
		// command queue must not wait for ever. The key of the last hold
		// expires. One hold of several would be counted for as long as the
		// others are renewed.
		r.finishCommand()
		return
	}
	if r.failed != nil && c.now() > r.limit {
		r.expire()
		return
	}
	if !c.node.pipe.Enqueue(&r.req) {
		r.failed = r.req.Err
		r.expire()
	}
}

// Complete handles the end of a send.
func (r *release) Complete(q *pipeline.Request) {
	s := r.st.n.s
	s.lock()
	defer s.unlock()
	c := r.st.n.c
	if r.ownMessage && (q.Err != nil || q.Resent()) {
		// It ran after the acquire that was to follow it, or not at all.
		r.ownMessageMissed()
	}
	if q.Err == nil {
		r.sent(q)
		result, err := codec.DecodeRelease(q.Reply)
		if err == nil {
			r.answered(q, result)
		} else {
			r.st.mayHaveSet(q.Sent, r.lease)
			r.finish(err)
		}
		r.done()
		return
	}
	switch {
	case lost(q.Err):
		r.sent(q)
		r.st.mayHaveSet(q.Sent, r.lease)
		r.failed = q.Err
		r.repeatAfterKill()
	case closedPipe(q.Err) || c.closed():
		r.failed = q.Err
		r.expire()
	case notSent(q.Err) || passing(q.Err):
		r.failed = q.Err
		r.later()
	default:
		r.sent(q)
		if !harmless(q.Err) {
			r.st.mayHaveSet(q.Sent, r.lease)
		}
		r.finish(q.Err)
	}
}

// sent records the first send. Trust in the lease that is left counts from it.
func (r *release) sent(q *pipeline.Request) {
	if r.first == 0 {
		r.first = q.Sent
		if r.limit != watchdog.Never {
			r.limit = min(r.limit, r.first+r.st.n.c.latchTTL()-r.st.n.c.o.timeout)
		}
	}
}

// repeatAfterKill sends the same unlock again once its connection is killed, or
// once it is known that the connection can't be killed. In both cases the latch
// keeps it from counting twice.
func (r *release) repeatAfterKill() {
	n := r.st.n
	c := n.c
	r.referenced = true
	c.node.pipe.AfterKillBarrier(&r.req, func(killed bool) {
		c.after(0, func() {
			n.s.lock()
			defer n.s.unlock()
			r.open = r.open || !killed
			if r.reported {
				r.finishCommand()
				return
			}
			r.send()
		})
	})
	if r.limit == watchdog.Never || r.limitTimer != nil {
		return
	}
	// The caller does not wait for a server that stays away.
	r.limitTimer = c.after(max(r.limit-c.now(), 0)+time.Millisecond, func() {
		n.s.lock()
		defer n.s.unlock()
		if !r.reported && c.now() > r.limit {
			r.report(r.uncertain())
		}
	})
}

// later sends again after a pause. A command that was refused or not sent did
// not run.
func (r *release) later() {
	n := r.st.n
	if n.c.now()+r.pause > r.limit {
		r.expire()
		return
	}
	r.referenced = true
	if r.open {
		// An earlier send may still set the lease.
		n.c.after(r.pause, func() {
			n.s.lock()
			defer n.s.unlock()
			r.send()
		})
	} else {
		r.st.pause(r.pause, r.send)
	}
	r.pause = min(2*r.pause, lastPause)
}

// expire ends a release whose limit has passed or whose client was closed.
func (r *release) expire() {
	switch {
	case r.first != 0:
		r.finish(r.uncertain())
	case r.st.n.c.closed():
		r.finish(ErrClosed)
	default:
		r.finish(fmt.Errorf("not released, the key is left to expire: %w", r.failed))
	}
}

func (r *release) uncertain() error {
	return fmt.Errorf("%w: the unlock was sent and never answered; if it did not run, the key is left to expire: %w", ErrUncertain, r.failed)
}

// answered handles the server's result.
func (r *release) answered(q *pipeline.Request, result codec.Release) {
	st := r.st
	n := st.n
	var err error
	if result != codec.NotHeld && q.Replicas > 0 && q.Acked == 0 {
		// Once more, with the same latch: it does not count twice.
		if !r.resent {
			r.resent = true
			r.send()
			return
		}
		err = fmt.Errorf("released, but %w", errUnreplicated)
	}
	if !r.open {
		n.c.node.pipe.Discard(r.latch)
	}
	if r.ownMessage && result != codec.Final {
		r.ownMessageMissed()
	}
	switch result {
	case codec.NotHeld:
		st.lose(errVanished)
		if r.alive {
			n.wakeHead() // it published nothing
		}
		r.finish(notHeld(st.owner))
	case codec.Final:
		st.lose(errVanished)
		r.finish(err)
	case codec.Partial:
		if st.held > 0 {
			st.leased(r.first, r.lease)
		}
		r.finish(err)
	}
}

// ownMessageMissed is called when the unlock did not release as expected.
func (r *release) ownMessageMissed() {
	r.ownMessage = false
	r.st.n.resetOwnMessages()
	r.st.n.step()
}

// report reports the outcome to the caller, once.
func (r *release) report(err error) {
	if !r.reported {
		r.reported = true
		r.st.n.c.timers.cancel(r.limitTimer)
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
	if r.open && r.req.Err != nil {
		r.st.mayArrive(r.lease)
	}
	r.st.done()
}
