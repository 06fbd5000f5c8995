package state

import (
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/owner"
)

// ownerOf is the owner of a state, as an event may keep it. It allocates nothing.
type ownerOf struct{ st *OwnerState }

func (o ownerOf) String() string { return o.st.Owner.String() }

// Subject is the lock, and the hold's owner.
func (h *Hold) Subject() observe.Subject {
	s := h.Lock.Subject(owner.Owner{})
	s.Owner = ownerOf{h.State}
	return s
}

// Call is a call that is observed. The zero call is not.
type Call struct {
	Ctx  context.Context // the call's, as the observer returned it
	Seen *observe.Call   // what to report of it; nil: nothing
}

// Call makes the call of a context that the observer has returned.
func (c *Client) Call(ctx context.Context) Call {
	if !c.keepsCommands {
		return Call{ctx, nil}
	}
	seen := Spare[observe.Call](&c.Spares.calls)
	seen.Begin(ctx)
	return Call{ctx, seen}
}

// ForgetCall recycles seen, which nobody refers to any more.
func (c *Client) ForgetCall(seen *observe.Call) {
	if seen != nil {
		*seen = observe.Call{}
		c.Spares.calls.Put(seen)
	}
}

// LeaveCall is called by each of the two that refer to an unlock's seen: its release and its
// caller. The second call recycles seen.
func (c *Client) LeaveCall(seen *observe.Call) {
	if seen != nil && seen.Left() == 2 {
		c.ForgetCall(seen)
	}
}

// LossReason is why a hold that ended for cause was lost.
func (h *Hold) LossReason(cause error) int {
	switch {
	case !errors.Is(cause, ErrExpired):
		return observe.Taken
	case h.Promise.Fixed || h.State.Name.Now() >= h.Promise.Until:
		return observe.Expired
	}
	return observe.Unreachable
}

// notReleased counts a hold that ended before it was released, and tells the observer. It is
// called with the shard locked.
func (h *Hold) notReleased(cause error, until time.Duration) {
	l, now := h.Lock, h.State.Name.Now()
	e := observe.Hold{End: "expired", Held: now - h.Since, At: time.Now().Add(min(until-now, 0))}
	if cause != lockerr.ErrClosed {
		reason := h.LossReason(cause)
		l.Counts().Lost[reason].Add(1)
		e.Reason = observe.ReasonNames[reason]
		if reason != observe.Expired {
			e.End = "lost"
		}
	}
	if l.Client.Observer == nil {
		return
	}
	s := h.Subject()
	l.Client.Post(func(o observe.Observer) { o.Ended(s, e) })
}
