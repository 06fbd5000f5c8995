package lockstate

import (
	"context"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
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

	repeats    bool          // it was answered before, and a failover may have undone it: see repeat.go
	keepsLatch bool          // it may be repeated so, with its latch
	everywhere time.Duration // until when every replica has the hold; 0: not known

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

// Unlock releases this one acquisition, as the public method says.
func (h *Hold) Unlock(ctx context.Context) error {
	r, outcome, wasLost, err := h.startUnlock()
	if err != nil {
		return err
	}
	err = h.l.await(ctx, r, outcome)
	if wasLost != nil {
		return h.releasedLate(wasLost, err)
	}
	if h.l.c.log != nil {
		h.logReleased(ctx, err)
	}
	return err
}

// startUnlock ends the hold and starts its unlock. wasLost is why it was over
// before, if it was.
func (h *Hold) startUnlock() (r *release, outcome chan error, wasLost, err error) {
	defer h.l.s.enter(mayBlock).leave()
	switch {
	case h.released:
		return nil, nil, nil, ErrReleased
	case h.l.c.state.Load() == stateClosed:
		h.released = true
		return nil, nil, nil, ErrClosed
	}
	wasLost = h.check()
	outcome = h.l.c.spares.outcomes.get()
	if r = h.release(outcome, nil); r == nil {
		return nil, nil, nil, lostHold{fmt.Errorf("%w; nothing was sent, since its owner has newer holds", wasLost)}
	}
	return r, outcome, wasLost, nil
}

// release ends the hold and starts its unlock. Its outcome goes to outcome, or
// to then if outcome is nil. It returns nil if nothing is sent: the hold was
// lost, and an unlock would release a newer hold of its owner. It is called
// with the shard locked.
func (h *Hold) release(outcome chan error, then func(error)) *release {
	st, c, now := h.st, h.l.c, h.l.s.sec.now()
	h.released = true
	// Counted before the hold is over, or Shutdown would miss both.
	if outcome != nil {
		c.releases.Add()
	} else {
		then = c.asWork(then)
	}
	if h.ended != nil {
		return h.releaseLost(outcome, then)
	}
	r := newRelease(st, h.l, now+c.unlockFor)
	r.outcome, r.then = outcome, then
	r.counted, r.alive, r.since, r.everywhere = true, true, h.since, h.heldEverywhere()
	trust := h.trust()
	st.drop(h)
	h.over(ErrReleased)
	if st.held > 0 || st.busy {
		st.updateLease()
	}
	if st.held == 0 {
		r.limit = min(r.limit, trust)
	}
	if r.unheld = now + c.holdsFor; h.fixed {
		r.unheld = h.dropped()
	}
	if st.busy {
		r.limitWait()
	}
	st.run(r)
	return r
}

// await waits for r: without a limit while ctx lasts, since r has its own, and
// for one command timeout after that (R2). r may be of others once there is an
// outcome.
func (l *Lock) await(ctx context.Context, r *release, outcome chan error) error {
	select {
	case err := <-outcome:
		l.c.spares.outcomes.put(outcome)
		return err
	case <-ctx.Done():
		return l.awaitLonger(r, outcome)
	}
}

// giveBack releases a hold that no caller has. It is called with the shard
// locked.
func (h *Hold) giveBack() {
	n := h.st.n
	h.release(nil, func(err error) {
		h.st.logGivenBack(err)
		// Without a subscription the waiters would not notice the release.
		for q := n.first(); q != nil; q = q.next {
			q.GivenBack()
		}
		n.step()
	})
}

func newRelease(st *OwnerState, l *Lock, limit time.Duration) *release {
	c := l.c
	r := c.spares.releases.get()
	r.st, r.l, r.limit, r.lease = st, l, limit, c.o.Watchdog
	r.want = kind.Want{Names: &l.names, Owner: st, Lease: c.args.lease, LatchTTL: c.args.latchTTL, Publish: c.publishes}
	if r.want.Publish == nil {
		r.want.Publish = l.publish()
	}
	r.req.Handler = r
	return r
}

// begin sends the unlock. It runs with the shard locked, in the owner's command queue.
func (r *release) begin() {
	st, n, l := r.st, r.st.n, r.l
	if st.held > 0 {
		// The lease that the other holds need, not the longest they ever had
		// (H6).
		r.leave(st.commandLease(0))
	} else if st.lease != nil {
		st.forget()
	}
	r.encode()
	switch {
	case r.reported:
		r.send()
	case !n.l.s.sec.enqueue(&r.req):
		r.notSent()
	case l.c.o.Replicas:
		r.countAside()
	}
	if !r.alive || st.held > 0 || r.reported {
		return
	}
	if n.queues != nil || n.lone != nil {
		r.ownMessage = n.handOff(l)
	}
	if !l.c.o.Courtesy || !l.traits.FairShare {
		return
	}
	isNew := n.fairShare == nil
	if isNew {
		n.fairShare = n.l.s.fairShares.Released(n.l.key, r.since, n.l.s.sec.now())
	}
	if n.fairShare != nil { // seldom
		n.noteRelease(l, isNew)
	}
}

// encode decides between the forms of the release, for its first send.
func (r *release) encode() {
	r.once = r.l.traits.Once && !r.st.shown()
	r.req.Wire.KeepReply, r.req.Wire.Tentative = r.once, r.outcome == nil
	r.want.Alone = false
	r.req.Until = r.limit
	if r.once {
		r.want.Latch = nil
		r.req.Until = max(r.limit, r.unheld, r.st.lasts)
	} else {
		if r.want.Latch == nil {
			r.want.Latch = r.l.freshLatch()
		}
		if r.reported {
			// Its caller waits no longer; the server still counts the hold.
			r.req.Until = r.st.n.unlockLimit()
		}
	}
	call := r.l.kind.Release(r.req.Wire.ArgBuffer[:0], &r.want)
	if r.undo {
		call = r.undoing(call)
	}
	r.l.fill(&r.req, call)
	r.req.Resend = call.Resend
	r.req.Aside = r.l.c.o.Replicas && r.goesAside()
}

// Done takes the end of its command.
func (r *release) Done(q *command.Request) {
	st := r.st
	defer st.n.l.s.enter(mustNotBlock).leave()
	if r.aside {
		r.notUnderWay()
	}
	if q.Fate != command.Answered {
		r.notAnswered(q)
		return
	}
	if r.ownMessage && q.OutOfOrder {
		r.outOfOrder()
	}
	result, form, err := r.l.kind.Released(q.Wire.Reply, &r.want)
	if r.repeats {
		r.answeredAgain(q, result, err)
		return
	}
	if r.l.c.failsOver && err == nil {
		r.remember(q, result)
	}
	plain := r.once && !r.lost && !r.undo && st.held == 0 && q.Wire.Replicas == 0
	if !plain || err != nil || result != codec.Final {
		r.answeredOtherwise(q, result, form, err)
		return
	}
	r.report(nil)
	st.done()
	r.done()
}

// report reports the outcome to the caller, once.
func (r *release) report(err error) {
	if r.reported {
		return
	}
	r.reported = true
	if r.referenced {
		r.stopTimers()
	}
	if r.outcome != nil {
		r.l.c.releases.Done()
		r.outcome <- err
	} else {
		r.then(err)
	}
}

// done puts the release back at the end of its Done.
func (r *release) done() {
	if !r.reported || r.referenced {
		return
	}
	spares := &r.l.c.spares
	*r = release{}
	spares.releases.put(r)
}
