package lockstate

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Unlock releases this one acquisition, as the public method says.
func (h *Hold) Unlock(ctx context.Context) error {
	r, outcome, wasLost, err := h.startUnlock()
	if err != nil {
		return err
	}
	err = h.l.await(ctx, r, outcome)
	if wasLost == nil {
		h.l.c.log.released(ctx, h, err)
	}
	switch {
	case wasLost == nil:
	case err == nil:
		err = lostHold{fmt.Errorf("%w; its key was still there and is released", wasLost)}
	case errors.Is(err, ErrNotHeld):
		err = lostHold{fmt.Errorf("%w; nothing was left to release for owner %s", wasLost, h.st.owner)}
	default:
		err = lostHold{fmt.Errorf("%w; %w", wasLost, err)}
	}
	return err
}

// startUnlock ends the hold and starts its unlock. wasLost is why it was over
// before, if it was.
func (h *Hold) startUnlock() (r *release, outcome chan error, wasLost, err error) {
	s := h.l.shard()
	defer s.enter(mayBlock).leave()
	switch {
	case h.released:
		return nil, nil, nil, ErrReleased
	case h.l.c.Closed():
		h.released = true
		return nil, nil, nil, ErrClosed
	}
	wasLost = h.check()
	outcome = outcomes.Get().(chan error)
	if r = h.release(outcome, nil); r == nil {
		return nil, nil, nil, lostHold{fmt.Errorf("%w; nothing was sent, since its owner has newer holds", wasLost)}
	}
	return r, outcome, wasLost, nil
}

// await waits for r: without a limit while ctx lasts, since r has its own, and
// for one command timeout after that (R2). r may be of others once there is an
// outcome.
func (l *Lock) await(ctx context.Context, r *release, outcome chan error) error {
	select {
	case err := <-outcome:
		outcomes.Put(outcome)
		return err
	case <-ctx.Done():
	}
	timer := time.NewTimer(l.c.o.Timeout)
	defer timer.Stop()
	select {
	case err := <-outcome:
		outcomes.Put(outcome)
		return err
	case <-timer.C:
		defer l.shard().enter(mayBlock).leave()
		if len(outcome) == 0 && r.req.First == 0 && r.req.Begun() && (r.paused || l.c.exec.Waiting(&r.req)) {
			return r.unsentSoFar()
		}
		return fmt.Errorf("%w: no answer to the unlock within %v after the context ended; it goes on in the background", ErrUncertain, l.c.o.Timeout)
	}
}

// release ends the hold and starts its unlock. Its outcome goes to outcome, or
// to then if outcome is nil. It returns nil if nothing is sent: the hold was
// lost, and an unlock would release a newer hold of its owner. It is called
// with the shard locked.
func (h *Hold) release(outcome chan error, then func(error)) *release {
	c := h.l.c
	h.released = true
	n := h.st.n.s.pin(h.l)
	defer n.unpin()
	limit := n.unlockLimit()
	under := &c.work
	if outcome != nil {
		under = &c.releases
	}
	under.add() // before the hold is over, or Shutdown would miss both
	alive := h.ended == nil
	counted := alive
	if alive {
		trust := h.trust()
		h.st.drop(h)
		h.over(ErrReleased)
		h.st.updateLease()
		if h.st.held == 0 {
			limit = min(limit, trust)
		}
	}
	// The state of a lost hold's name may have been dropped and made anew. What
	// was known of its owner is lost with it.
	st := n.ensureOwnerState(h.st.owner)
	st.shown = st.shown || h.st.shown || !alive
	if !alive && st.lease != h.lease && (st.held > 0 || st.attempts > 0) {
		under.done()
		return nil
	}
	if !alive {
		if counted = h.stillCounted && st.lease == h.lease; counted {
			st.extras.stillCounted--
			st.dropEmptyExtras()
		}
		limit = min(limit, n.now()+c.o.Timeout)
	}
	r := newRelease(st, h.l, limit)
	r.unheld = h.dropped()
	r.counted, r.alive, r.since = counted, alive, h.since
	if r.outcome = outcome; outcome == nil {
		r.then = func(err error) {
			c.work.done()
			then(err)
		}
	}
	r.start()
	return r
}

// start runs the release in its owner's command queue. A caller whose owner has
// an earlier command open gets an error at the limit. When the client is
// closed, the earlier command ends, and then the release is sent.
func (r *release) start() {
	st := r.st
	if st.busy {
		r.referenced = true
		n := st.n
		r.queueTimer = n.s.c.after(max(r.limit-n.now(), n.s.c.o.Timeout)+time.Millisecond, func() {
			defer n.s.enter(mayBlock).leave()
			r.reportIfLate()
		})
	}
	st.run(r)
}

// giveBack releases a hold that no caller has. It is called with the shard
// locked.
func (h *Hold) giveBack() {
	n := h.st.n
	h.release(nil, func(err error) {
		n.s.c.log.givenBack(h.st, err)
		// Without a subscription the waiters would not notice the release.
		for q := n.first(); q != nil; q = q.next {
			q.GivenBack()
		}
		n.step()
	})
}
