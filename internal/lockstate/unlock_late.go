package lockstate

import (
	"errors"
	"fmt"
	"time"
)

// releasedLate is the outcome of the unlock of a hold that had been lost.
func (h *Hold) releasedLate(wasLost, err error) error {
	switch {
	case err == nil:
		return lostHold{fmt.Errorf("%w; its key was still there and is released", wasLost)}
	case errors.Is(err, ErrNotHeld):
		return lostHold{fmt.Errorf("%w; nothing was left to release for owner %s", wasLost, h.st.owner)}
	}
	return lostHold{fmt.Errorf("%w; %w", wasLost, err)}
}

// releaseLost is release for a hold that is over already.
func (h *Hold) releaseLost(outcome chan error, then func(error)) *release {
	c, now := h.l.c, h.l.s.sec.now()
	n := h.l.s.pin(h.l)
	defer n.unpin()
	// The state of a lost hold's name may have been dropped and made anew. What
	// was known of its owner is lost with it.
	st := n.ensureShown(h.st.owner)
	if st.lease != h.lease && (st.held > 0 || st.attempts > 0) {
		if outcome != nil {
			c.releases.Done()
		} else {
			c.work.Done()
		}
		return nil
	}
	r := newRelease(st, h.l, now+min(c.unlockFor, c.o.Timeout))
	r.outcome, r.then = outcome, then
	if r.counted = h.stillCounted && st.lease == h.lease; r.counted {
		st.extras.stillCounted--
		st.dropEmptyExtras()
	}
	r.unheld = h.dropped()
	if st.busy {
		r.limitWait()
	}
	st.run(r)
	return r
}

// limitWait is for a release whose owner has an earlier command open: its caller gets
// an error at the limit. When the client is closed, the earlier command ends, and
// then the release is sent.
func (r *release) limitWait() {
	n, c := r.st.n, r.l.c
	r.referenced = true
	r.queueTimer = c.timers.After(max(r.limit-n.now(), c.o.Timeout)+time.Millisecond, func() {
		defer n.l.s.enter(mayBlock).leave()
		r.reportIfLate()
	})
}

// asWork counts a release that no caller waits for, until it has told then.
func (c *State) asWork(then func(error)) func(error) {
	c.work.Add()
	return func(err error) {
		c.work.Done()
		then(err)
	}
}

// awaitLonger waits for the outcome of an unlock whose context is over.
func (l *Lock) awaitLonger(r *release, outcome chan error) error {
	timer := time.NewTimer(l.c.o.Timeout)
	defer timer.Stop()
	select {
	case err := <-outcome:
		l.c.spares.outcomes.put(outcome)
		return err
	case <-timer.C:
		defer l.s.enter(mayBlock).leave()
		if len(outcome) == 0 && !r.req.Reached() && r.req.Begun() && (r.paused || l.c.exec.Waiting(&r.req)) {
			return r.unsentSoFar()
		}
		return fmt.Errorf("%w: no answer to the unlock within %v after the context ended; it goes on in the background", ErrUncertain, l.c.o.Timeout)
	}
}

// logGivenBack logs what became of a grant that nobody wanted any more.
func (st *OwnerState) logGivenBack(err error) {
	s := st.n.l.s
	if err == nil || errors.Is(err, ErrNotHeld) {
		st.n.l.c.log.GivenBack(&s.sec, st.told())
		return
	}
	st.n.l.c.log.NotGivenBack(&s.sec, st.told(), err)
}
