package unlock

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
	"github.com/rlock-go/redisson/internal/state"
)

// Hold releases this one acquisition, as the public method says.
func Hold(ctx context.Context, h *state.Hold) error {
	u := observeUnlock(ctx, h)
	r, outcome, wasLost, err := startUnlock(h, &u)
	if err != nil {
		unlocked(h, u, nil, err)
		return err
	}
	err = r.await(ctx, h.Lock, outcome)
	switch {
	case wasLost != nil:
		err = releasedLate(h, wasLost, err)
	case errors.Is(err, lockerr.ErrNotHeld):
		err = lockerr.OfKind(err, lockerr.ErrLeaseLost)
	}
	unlocked(h, u, wasLost, err)
	if wasLost == nil {
		logReleased(ctx, h, err)
	}
	return err
}

// logReleased logs how the unlock ended.
func logReleased(ctx context.Context, h *state.Hold, err error) {
	switch log := h.Lock.Client.Log; {
	case err != nil:
		log.Unreleased(ctx, h.Told(), errors.Is(err, lockerr.ErrUncertain), err)
	case log.On(ctx, slog.LevelDebug):
		log.Released(ctx, h.Told(), h.Lock.Client.Now()-h.Since)
	}
}

// startUnlock ends the hold and starts its unlock. wasLost is why it was over
// before, if it was.
func startUnlock(h *state.Hold, u *observed) (r *releasing, outcome chan error, wasLost, err error) {
	defer h.Lock.Shard.Enter(section.MayBlock).Leave()
	switch {
	case h.Released:
		return nil, nil, nil, lockerr.ErrReleased
	case h.Lock.Client.Closed():
		h.Released = true
		return nil, nil, nil, lockerr.ErrClosed
	}
	wasLost = h.Check()
	if r = endAndUnlock(h, nil, u); r == nil {
		return nil, nil, nil, lockerr.Lost(fmt.Errorf("%w; nothing was sent, since its owner has newer holds", wasLost))
	}
	return r, r.outcome, wasLost, nil
}

// endAndUnlock ends the hold and starts its unlock. Its outcome goes to then, which is nil if
// a caller waits for it. It returns nil if nothing is sent: the hold was lost, and an
// unlock would release a newer hold of its owner. It is called with the shard locked.
func endAndUnlock(h *state.Hold, then func(error), u *observed) *releasing {
	st, c := h.State, h.Lock.Client
	why, limit := release.Unlock, h.Lock.Shard.Now()+c.UnlockFor
	if then != nil {
		why = release.GiveBack
	}
	h.Released = true
	if h.Ended != nil {
		n := h.Lock.Shard.Pin(h.Lock)
		defer n.Unpin()
		// The state of a lost hold's name may have been dropped and made anew. What
		// was known of its owner is lost with it.
		if st = n.EnsureOwnerState(h.State.Owner); st.Lease != h.Lease && (st.Held > 0 || st.Attempts > 0) {
			return nil
		}
		if why, limit = release.Lost, min(limit, n.Now()+c.Timeout); then != nil {
			why = release.Vain
		}
	}
	r := newRelease(st, why, h.Lock, limit) // counted before the hold is over, or Shutdown would miss both
	r.then, r.seen = then, u.Seen
	if h.Lock.Traits.ByOwner { // kinds without a queue share the owner's state
		r.place = h.State.Rare().Place
	}
	r.keepTaken(h.State)
	ends := clock.Later(h.Lock.Shard.Now(), c.Watchdog) // if no command of its owner follows
	if h.Promise.Fixed {
		ends = h.Promise.Until
	}
	r.Unheld = clock.Later(ends, c.Timeout)
	if h.Ended == nil {
		r.living, r.since = true, h.Since
		u.ended, u.held = true, h.Lock.Shard.Now()-h.Since
		trust := h.Trust()
		st.Drop(h)
		h.Over(lockerr.ErrReleased)
		if st.Held > 0 || st.Busy {
			st.UpdateLease()
		}
		if st.Held == 0 {
			r.Limit = min(r.Limit, trust)
		}
	}
	if st.Busy {
		// Its caller gets an error at the limit, if an earlier command of its owner is
		// still open. When the client is closed that one ends, and this one is sent.
		r.setTimer(max(r.Limit-h.Lock.Shard.Now(), c.Timeout))
	}
	st.Run(r)
	return r
}

// await waits for the outcome: without a limit while ctx lasts, since the unlock has one, and
// then for one command timeout (R2). Once there is an outcome, r may be in use for another
// unlock.
func (r *releasing) await(ctx context.Context, l *state.Lock, outcome chan error) error {
	select {
	case err := <-outcome:
		l.Client.Spares.Outcomes.Put(outcome)
		return err
	case <-ctx.Done():
	}
	r.willLeave(l, outcome)
	select {
	case err := <-outcome:
		return err
	case <-time.After(l.Client.Timeout):
	}
	defer l.Shard.Enter(section.MayBlock).Leave()
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
	return fmt.Errorf("%w: no answer to the unlock within %v after the context ended; it goes on in the background", lockerr.ErrUncertain, l.Client.Timeout)
}

// willLeave notes when the caller leaves, unless there is an outcome.
func (r *releasing) willLeave(l *state.Lock, outcome chan error) {
	defer l.Shard.Enter(section.MustNotBlock).Leave()
	if len(outcome) == 0 {
		r.leaves = l.Shard.Now() + l.Client.Timeout
	}
}

// As releases one hold of an owner that has no Hold in this client, as
// the public method says.
func As(ctx context.Context, l *state.Lock, o owner.Owner) error {
	r, outcome, err := startUnlockAs(l, o)
	if err != nil {
		return err
	}
	err = r.await(ctx, l, outcome)
	logReleasedAs(ctx, l, o, err)
	return err
}

// logReleasedAs logs how an UnlockAs ended.
func logReleasedAs(ctx context.Context, l *state.Lock, o owner.Owner, err error) {
	switch log := l.Client.Log; {
	case !log.On(ctx, slog.LevelWarn):
	case err != nil:
		log.Unreleased(ctx, eventlog.Lock{Name: l.Name(), Owner: o}, errors.Is(err, lockerr.ErrUncertain), err)
	case log.On(ctx, slog.LevelDebug):
		log.ReleasedAs(ctx, eventlog.Lock{Name: l.Name(), Owner: o})
	}
}

// keepTaken lets r leave the lock taken for as long as holds of st have asked for it.
func (r *releasing) keepTaken(st *state.OwnerState) {
	if until := st.Rare().KeepUntil; until > st.Name.Now() {
		r.keep = &state.Keeping{Until: until, By: r.l.Client.Actors.Keeper().String()}
	}
}

// startUnlockAs starts an unlock for an owner that has no Hold in this client.
func startUnlockAs(l *state.Lock, o owner.Owner) (r *releasing, outcome chan error, err error) {
	if err := l.MayAct(o); err != nil {
		return nil, nil, err
	}
	if !l.Client.Actors.Made(o) {
		o.Share() // another client of this process may have made it
	}
	s := l.Shard
	defer s.Enter(section.MayBlock).Leave()
	if l.Client.Closed() {
		return nil, nil, lockerr.ErrClosed
	}
	n := s.Pin(l)
	defer n.Unpin()
	st := n.EnsureMarked(o)
	if st.Held > 0 || st.Attempts > 0 {
		return nil, nil, fmt.Errorf("%w: owner %s has a Hold in this client; release that", lockerr.ErrInvalidOption, o.String())
	}
	r = newRelease(st, release.UnlockAs, l, n.Now()+l.Client.UnlockFor)
	r.keepTaken(st)
	r.setTimer(r.Limit - n.Now())
	st.Run(r)
	return r, r.outcome, nil
}
