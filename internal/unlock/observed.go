package unlock

import (
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/release"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/state"
)

// observed is a call of Unlock that is observed.
type observed struct {
	state.Call
	ended bool // it ended a hold that had not been lost
	held  time.Duration
}

// observeUnlock begins to observe an unlock, if there is an observer.
func observeUnlock(ctx context.Context, h *state.Hold) (u observed) {
	c := h.Lock.Client
	if c.Observer == nil {
		return u
	}
	if c.TellsCalls {
		returned := false
		defer func() {
			if !returned {
				Abandon(h)
			}
		}()
		ctx = c.Observer.Release(ctx, h.Subject())
		returned = true
	}
	u.Call = c.Call(ctx)
	return u
}

// Abandon releases a hold whose caller can't, because the observer ended the goroutine.
func Abandon(h *state.Hold) {
	defer h.Lock.Shard.Enter(section.MayBlock).Leave()
	if !h.Released {
		GiveBack(h)
	}
}

// lossOf is why and when a hold was lost, for the event of its Unlock.
func lossOf(h *state.Hold) (reason string, at time.Time) {
	defer h.Lock.Shard.Enter(section.MustNotBlock).Leave()
	now := h.State.Name.Now()
	return observe.ReasonNames[h.LossReason(h.Ended)], time.Now().Add(min(h.Promise.End-now, 0))
}

// unlocked counts how an unlock ended, and tells the observer.
func unlocked(h *state.Hold, u observed, wasLost, err error) {
	l := h.Lock
	if errors.Is(err, lockerr.ErrUncertain) {
		l.Counts().Unsure.Add(1)
	}
	o := l.Client.Observer
	if o == nil {
		return
	}
	s := h.Subject()
	u.Seen.Tell(o, s)
	l.Client.LeaveCall(u.Seen)
	if u.ended {
		o.Ended(s, observe.Hold{End: "released", Held: u.held, At: time.Now()})
	}
	if !l.Client.TellsCalls {
		return
	}
	r := observe.Release{Err: err}
	if wasLost != nil && !errors.Is(wasLost, lockerr.ErrClosed) {
		r.Reason, r.LostAt = lossOf(h)
	}
	o.Released(u.Ctx, s, r)
}

// undid counts the undo of an acquire, and tells the observer.
func undid(l *state.Lock, o owner.Owner, err error) {
	u := observe.Undo{Outcome: "undone", Err: err}
	switch {
	case errors.Is(err, lockerr.ErrNotHeld):
		u.Outcome, u.Err = "nothing", nil
	case err != nil:
		u.Outcome = "failed"
	}
	if err == nil {
		l.Counts().Undone.Add(1)
	}
	if l.Client.Observer != nil {
		s := l.Subject(o)
		l.Client.Post(func(o observe.Observer) { o.Undone(s, u) })
	}
}

// Seen is the call that the command is a part of, if any, and whether it is an undo.
func (r *releasing) Seen() (*observe.Call, bool) { return r.seen, r.Why == release.Undo }
