package lockstate

import (
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/section"
)

// observedUnlock is a call of Unlock that is observed.
type observedUnlock struct {
	call
	ended bool // it ended a hold that had not been lost
	held  time.Duration
}

// observeUnlock begins to observe an unlock, if there is an observer.
func (h *Hold) observeUnlock(ctx context.Context) (u observedUnlock) {
	c := h.l.c
	if c.Observer == nil {
		return u
	}
	if c.tellsCalls {
		returned := false
		defer func() {
			if !returned {
				h.abandon()
			}
		}()
		ctx = c.Observer.Release(ctx, h.subject())
		returned = true
	}
	u.call = c.call(ctx)
	return u
}

// abandon releases a hold whose caller can't, because the observer ended the goroutine.
func (h *Hold) abandon() {
	defer h.l.s.Enter(section.MayBlock).Leave()
	if !h.released {
		h.giveBack()
	}
}

// lossOf is why and when a hold was lost, for the event of its Unlock.
func (h *Hold) lossOf() (reason string, at time.Time) {
	defer h.l.s.Enter(section.MustNotBlock).Leave()
	now := h.st.n.now()
	return observe.ReasonNames[h.lossReason(h.ended)], time.Now().Add(min(h.promise.End-now, 0))
}

// unlocked counts how an unlock ended, and tells the observer.
func (h *Hold) unlocked(u observedUnlock, wasLost, err error) {
	l := h.l
	if errors.Is(err, lockerr.ErrUncertain) {
		l.counts().unsure.Add(1)
	}
	o := l.c.Observer
	if o == nil {
		return
	}
	s := h.subject()
	u.seen.Tell(o, s)
	l.c.leave(u.seen)
	if u.ended {
		o.Ended(s, observe.Hold{End: "released", Held: u.held, At: time.Now()})
	}
	if !l.c.tellsCalls {
		return
	}
	r := observe.Release{Err: err}
	if wasLost != nil && !errors.Is(wasLost, lockerr.ErrClosed) {
		r.Reason, r.LostAt = h.lossOf()
	}
	o.Released(u.ctx, s, r)
}

// undid counts the undo of an acquire, and tells the observer.
func (l *Lock) undid(o owner.Owner, err error) {
	u := observe.Undo{Outcome: "undone", Err: err}
	switch {
	case errors.Is(err, lockerr.ErrNotHeld):
		u.Outcome, u.Err = "nothing", nil
	case err != nil:
		u.Outcome = "failed"
	}
	if err == nil {
		l.counts().undone.Add(1)
	}
	if l.c.Observer != nil {
		s := l.Subject(o)
		l.c.Post(func(o observe.Observer) { o.Undone(s, u) })
	}
}
