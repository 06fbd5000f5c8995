package lockstate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/release"
	"github.com/rlock-go/redisson/internal/section"
)

// Unlock releases this one acquisition, as the public method says.
func (h *Hold) Unlock(ctx context.Context) error {
	u := h.observeUnlock(ctx)
	r, outcome, wasLost, err := h.startUnlock(&u)
	if err != nil {
		h.unlocked(u, nil, err)
		return err
	}
	err = r.await(ctx, h.l, outcome)
	switch {
	case wasLost != nil:
		err = h.releasedLate(wasLost, err)
	case errors.Is(err, lockerr.ErrNotHeld):
		err = lockerr.OfKind(err, lockerr.ErrLeaseLost)
	}
	h.unlocked(u, wasLost, err)
	if wasLost == nil {
		h.logReleased(ctx, err)
	}
	return err
}

// logReleased logs how the unlock ended.
func (h *Hold) logReleased(ctx context.Context, err error) {
	switch log := h.l.c.Log; {
	case err != nil:
		log.Unreleased(ctx, h.told(), errors.Is(err, lockerr.ErrUncertain), err)
	case log.On(ctx, slog.LevelDebug):
		log.Released(ctx, h.told(), h.l.c.Now()-h.since)
	}
}

// startUnlock ends the hold and starts its unlock. wasLost is why it was over
// before, if it was.
func (h *Hold) startUnlock(u *observedUnlock) (r *releasing, outcome chan error, wasLost, err error) {
	defer h.l.s.Enter(section.MayBlock).Leave()
	switch {
	case h.released:
		return nil, nil, nil, lockerr.ErrReleased
	case h.l.c.Closed():
		h.released = true
		return nil, nil, nil, lockerr.ErrClosed
	}
	wasLost = h.check()
	if r = h.endAndUnlock(nil, u); r == nil {
		return nil, nil, nil, lockerr.Lost(fmt.Errorf("%w; nothing was sent, since its owner has newer holds", wasLost))
	}
	return r, r.outcome, wasLost, nil
}

// endAndUnlock ends the hold and starts its unlock. Its outcome goes to then, which is nil if
// a caller waits for it. It returns nil if nothing is sent: the hold was lost, and an
// unlock would release a newer hold of its owner. It is called with the shard locked.
func (h *Hold) endAndUnlock(then func(error), u *observedUnlock) *releasing {
	st, c := h.st, h.l.c
	why, limit := release.Unlock, h.l.s.Now()+c.UnlockFor
	if then != nil {
		why = release.GiveBack
	}
	h.released = true
	if h.ended != nil {
		n := h.l.s.pin(h.l)
		defer n.unpin()
		// The state of a lost hold's name may have been dropped and made anew. What
		// was known of its owner is lost with it.
		if st = n.ensureShown(h.st.owner); st.lease != h.lease && (st.held > 0 || st.attempts > 0) {
			return nil
		}
		if why, limit = release.Lost, min(limit, n.now()+c.Timeout); then != nil {
			why = release.Vain
		}
	}
	r := st.newRelease(why, h.l, limit) // counted before the hold is over, or Shutdown would miss both
	r.then, r.seen = then, u.seen
	if h.l.Traits.ByOwner { // kinds without a queue share the owner's state
		r.place = h.st.rare().place
	}
	if until := h.st.rare().keepUntil; until > h.l.s.Now() {
		r.keep = &keeping{until, c.Actors.OfAcquire().String()}
	}
	ends := clock.Later(h.l.s.Now(), c.Watchdog) // if no command of its owner follows
	if h.promise.Fixed {
		ends = h.promise.Until
	}
	r.Unheld = clock.Later(ends, c.Timeout)
	if h.ended == nil {
		r.counted, r.since = true, h.since
		u.ended, u.held = true, h.l.s.Now()-h.since
		if c.FailsOver {
			r.everywhere = h.heldEverywhere()
		}
		trust := h.trust()
		st.drop(h)
		h.over(lockerr.ErrReleased)
		if st.held > 0 || st.busy {
			st.updateLease()
		}
		if st.held == 0 {
			r.Limit = min(r.Limit, trust)
		}
	} else if r.counted = h.stillCounted && st.lease == h.lease; r.counted {
		st.extras.stillCounted--
	}
	if st.busy {
		// Its caller gets an error at the limit, if an earlier command of its owner is
		// still open. When the client is closed that one ends, and this one is sent.
		r.setTimer(max(r.Limit-h.l.s.Now(), c.Timeout))
	}
	st.run(r)
	return r
}

// await waits for the outcome: without a limit while ctx lasts, since the unlock has one, and
// then for one command timeout (R2). Once there is an outcome, r may be in use for another
// unlock.
func (r *releasing) await(ctx context.Context, l *Lock, outcome chan error) error {
	select {
	case err := <-outcome:
		l.c.spares.outcomes.Put(outcome)
		return err
	case <-ctx.Done():
	}
	r.willLeave(l, outcome)
	select {
	case err := <-outcome:
		return err
	case <-time.After(l.c.Timeout):
	}
	defer l.s.Enter(section.MayBlock).Leave()
	select {
	case err := <-outcome:
		return err
	default:
	}
	r.leaves = 0
	if r.Why == release.UnlockAs {
		r.Leave(r) // nothing of it is sent later, since another one would release one more hold
		return <-outcome
	}
	if r.Unsent(r) {
		return r.unsentSoFar()
	}
	return fmt.Errorf("%w: no answer to the unlock within %v after the context ended; it goes on in the background", lockerr.ErrUncertain, l.c.Timeout)
}

// willLeave notes when the caller leaves, unless there is an outcome.
func (r *releasing) willLeave(l *Lock, outcome chan error) {
	defer l.s.Enter(section.MustNotBlock).Leave()
	if len(outcome) == 0 {
		r.leaves = l.s.Now() + l.c.Timeout
	}
}

// UnlockAs releases one hold of an owner that has no Hold in this client, as
// the public method says.
func (l *Lock) UnlockAs(ctx context.Context, o owner.Owner) error {
	r, outcome, err := l.startUnlockAs(o)
	if err != nil {
		return err
	}
	err = r.await(ctx, l, outcome)
	l.logReleasedAs(ctx, o, err)
	return err
}

// logReleasedAs logs how an UnlockAs ended.
func (l *Lock) logReleasedAs(ctx context.Context, o owner.Owner, err error) {
	switch log := l.c.Log; {
	case !log.On(ctx, slog.LevelWarn):
	case err != nil:
		log.Unreleased(ctx, eventlog.Lock{Name: l.Name(), Owner: o}, errors.Is(err, lockerr.ErrUncertain), err)
	case log.On(ctx, slog.LevelDebug):
		log.ReleasedAs(ctx, eventlog.Lock{Name: l.Name(), Owner: o})
	}
}

// startUnlockAs starts an unlock for an owner that has no Hold in this client.
func (l *Lock) startUnlockAs(o owner.Owner) (r *releasing, outcome chan error, err error) {
	if err := l.c.act(l, o); err != nil {
		return nil, nil, err
	}
	s := l.s
	defer s.Enter(section.MayBlock).Leave()
	if l.c.Closed() {
		return nil, nil, lockerr.ErrClosed
	}
	n := s.pin(l)
	defer n.unpin()
	st := n.ensureShown(o)
	if st.held > 0 || st.attempts > 0 {
		return nil, nil, fmt.Errorf("%w: owner %s has a Hold in this client; release that", lockerr.ErrInvalidOption, o.String())
	}
	r = st.newRelease(release.UnlockAs, l, n.now()+l.c.UnlockFor)
	r.setTimer(r.Limit - n.now())
	st.run(r)
	return r, r.outcome, nil
}
