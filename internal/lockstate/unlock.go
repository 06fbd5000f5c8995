package lockstate

import (
	"context"
	"fmt"
)

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
	r.counted, r.alive, r.since = true, true, h.since
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
		outcomes.Put(outcome)
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
