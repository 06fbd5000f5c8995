package locks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/locks/release"
)

// Unlock releases this one acquisition, as the public method says.
func Unlock(ctx context.Context, h *Hold) error {
	c := h.lock.Client
	var u observedUnlock
	if c.Observer != nil {
		u = observeUnlock(ctx, h)
	}
	r, outcome, wasLost, err := startUnlock(h, &u)
	if err == nil {
		err = r.await(ctx, h.lock, outcome)
		switch {
		case wasLost != nil:
			err = releasedLate(h, wasLost, err)
		case errors.Is(err, ErrNotHeld):
			err = ofKind(err, ErrLeaseLost)
		}
		switch {
		case wasLost != nil || c.Log == nil:
		case err != nil:
			c.Log.Unreleased(ctx, h.eventLock(), errors.Is(err, ErrUncertain), err)
		default:
			c.Log.Released(ctx, h.eventLock(), u.held)
		}
		if errors.Is(err, ErrUncertain) {
			c.counts[h.lock.Traits.Label].unsure.Add(1)
		}
	}
	if c.Observer != nil {
		u.tell(h, wasLost, err)
	}
	return err
}

// startUnlock ends the hold and starts its unlock. wasLost is why it was over
// before, if it was.
func startUnlock(h *Hold, u *observedUnlock) (r *releasing, outcome chan error, wasLost, err error) {
	defer h.lock.shard.enter(mayBlock).leave()
	switch {
	case h.released:
		return nil, nil, nil, ErrReleased
	case h.lock.Client.Closed():
		h.released = true
		return nil, nil, nil, ErrClosed
	}
	wasLost = h.check()
	if r = endAndUnlock(h, nil, u); r == nil {
		return nil, nil, nil, lost(fmt.Errorf("%w; nothing was sent, since its owner has newer holds", wasLost))
	}
	return r, r.outcome, wasLost, nil
}

// endAndUnlock ends the hold and starts its unlock. Its outcome goes to then, which is nil if
// a caller waits for it. It returns nil if nothing is sent: the hold was lost, and an
// unlock would release a newer hold of its owner. It is called with the shard locked.
func endAndUnlock(h *Hold, then func(error), u *observedUnlock) *releasing {
	st, c := h.state, h.lock.Client
	why, limit := release.Unlock, h.lock.shard.Now()+c.unlockFor
	if then != nil {
		why = release.GiveBack
	}
	h.released = true
	if h.ended != nil {
		n := h.lock.shard.pin(h.lock)
		defer n.unpin()
		// The state of a lost hold's name may have been dropped and made anew. What
		// was known of its owner is lost with it.
		if st = n.ensureOwnerState(h.state.Owner); st.lease != h.lease && (st.held > 0 || st.attempts > 0) {
			return nil
		}
		if why, limit = release.Lost, min(limit, n.Now()+c.Timeout); then != nil {
			why = release.Vain
		}
	}
	r := newRelease(st, why, h.lock, limit) // counted before the hold is over, or Shutdown would miss both
	r.then, r.seen = then, u.seen
	if h.lock.Traits.ByOwner { // kinds without a queue share the owner's state
		r.place = h.state.rare().place
	}
	if h.state.extras != nil {
		r.keepTaken(h.state.extras)
	}
	ends := clock.Later(h.lock.shard.Now(), c.Watchdog) // if no command of its owner follows
	if h.promise.Fixed {
		ends = h.promise.Until
	}
	r.Unheld = clock.Later(ends, c.Timeout)
	if h.ended == nil {
		r.living, r.since = true, h.since
		u.ended, u.held = true, h.lock.shard.Now()-h.since
		trust := h.trust()
		st.drop(h)
		h.over(ErrReleased)
		if st.held > 0 || st.busy {
			st.updateLease()
		}
		if st.held == 0 {
			r.Limit = min(r.Limit, trust)
		}
	}
	if st.busy {
		// Its caller gets an error at the limit, if an earlier command of its owner is
		// still open. When the client is closed that one ends, and this one is sent.
		r.setTimer(max(r.Limit-h.lock.shard.Now(), c.Timeout))
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
		l.Client.spares.outcomes.Put(outcome)
		return err
	case <-ctx.Done():
	}
	r.willLeave(l, outcome)
	select {
	case err := <-outcome:
		return err
	case <-time.After(l.Client.Timeout):
	}
	defer l.shard.enter(mayBlock).leave()
	select {
	case err := <-outcome:
		return err
	default:
	}
	r.leaves = clock.Never
	if r.Why == release.UnlockAs {
		r.CallerLeft(r) // nothing of it is sent later, since another one would release one more hold
		return <-outcome
	}
	if r.Unsent(r) {
		return r.unsentSoFar()
	}
	return fmt.Errorf("%w: no answer within %v after the context ended; it goes on in the background", ErrUncertain, l.Client.Timeout)
}

// willLeave notes when the caller leaves, unless there is an outcome.
func (r *releasing) willLeave(l *Lock, outcome chan error) {
	defer l.shard.enter(mustNotBlock).leave()
	if len(outcome) == 0 {
		r.leaves = l.shard.Now() + l.Client.Timeout
	}
}

// UnlockAs releases one hold of an owner that has no Hold in this client, as
// the public method says.
func UnlockAs(ctx context.Context, l *Lock, o Owner) error {
	r, outcome, err := startUnlockAs(l, o)
	if err != nil {
		return err
	}
	err = r.await(ctx, l, outcome)
	switch log := l.Client.Log; {
	case !log.On(ctx, slog.LevelWarn):
	case err != nil:
		log.Unreleased(ctx, eventlog.Lock{Name: l.name, Owner: o}, errors.Is(err, ErrUncertain), err)
	case log.On(ctx, slog.LevelDebug):
		log.ReleasedAs(ctx, eventlog.Lock{Name: l.name, Owner: o})
	}
	return err
}

// keepTaken lets r leave the lock taken for as long as holds of an owner have asked for it.
func (r *releasing) keepTaken(x *extras) {
	if x.keepUntil > r.st.name.Now() {
		r.keep = &keeping{until: x.keepUntil, by: r.l.Client.actors.keeper().String()}
	}
}

// startUnlockAs starts an unlock for an owner that has no Hold in this client.
func startUnlockAs(l *Lock, o Owner) (r *releasing, outcome chan error, err error) {
	if err := l.MayAct(o); err != nil {
		return nil, nil, err
	}
	if o.client != l.Client.ID {
		o.Share() // another client of this process may have made it
	}
	s := l.shard
	defer s.enter(mayBlock).leave()
	if l.Client.Closed() {
		return nil, nil, ErrClosed
	}
	n := s.pin(l)
	defer n.unpin()
	st := n.ensureMarked(o)
	if st.held > 0 || st.attempts > 0 {
		return nil, nil, fmt.Errorf("%w: owner %s has a Hold in this client; release that", ErrInvalidOption, o.String())
	}
	r = newRelease(st, release.UnlockAs, l, n.Now()+l.Client.unlockFor)
	if st.extras != nil {
		r.keepTaken(st.extras)
	}
	r.setTimer(r.Limit - n.Now())
	st.run(r)
	return r, r.outcome, nil
}
