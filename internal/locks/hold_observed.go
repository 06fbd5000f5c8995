package locks

import (
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/internal/observe"
)

// ownerOf is the owner of a state, as an event may keep it. It allocates nothing.
type ownerOf struct{ st *OwnerState }

func (o ownerOf) String() string { return o.st.Owner.String() }

// subject is the lock, and the hold's owner.
func (h *Hold) subject() observe.Subject {
	s := h.lock.subject(Owner{})
	s.Owner = ownerOf{h.state}
	return s
}

// observedCall is a call that is observed. The zero call is not.
type observedCall struct {
	ctx  context.Context // the call's, as the observer returned it
	seen *observe.Call   // what to report of it; nil: nothing
}

// call makes the call of a context that the observer has returned.
func (c *Client) call(ctx context.Context) observedCall {
	if !c.keepsCommands {
		return observedCall{ctx, nil}
	}
	seen := spare[observe.Call](&c.spares.calls)
	seen.Begin(ctx)
	return observedCall{ctx, seen}
}

// forgetCall recycles seen, which nobody refers to any more.
func (c *Client) forgetCall(seen *observe.Call) {
	*seen = observe.Call{}
	c.spares.calls.Put(seen)
}

// leaveCall is called by each of the two that refer to an unlock's seen: its release and its
// caller. The second call recycles seen.
func (c *Client) leaveCall(seen *observe.Call) {
	if seen.Left() == 2 {
		c.forgetCall(seen)
	}
}

// lossReason is why a hold that ended for cause was lost.
func (h *Hold) lossReason(cause error) int {
	switch {
	case !errors.Is(cause, errExpired):
		return observe.Taken
	case h.promise.Fixed || h.state.name.Now() >= h.promise.Until:
		return observe.Expired
	}
	return observe.Unreachable
}

// notReleased counts a hold that ended before it was released, and tells the observer. It is
// called with the shard locked.
func (h *Hold) notReleased(cause error, until time.Duration) {
	l, now := h.lock, h.state.name.Now()
	e := observe.Event{Of: observe.HoldEnded, Subject: h.subject(), How: "expired", Took: now - h.since, At: time.Now().Add(min(until-now, 0))}
	if cause != ErrClosed {
		reason := h.lossReason(cause)
		l.Client.counts[l.Traits.Label].lost[reason].Add(1)
		e.Reason = observe.ReasonNames[reason]
		if reason != observe.Expired {
			e.How = "lost"
		}
	}
	if l.Client.Observer != nil {
		l.Client.post(e)
	}
}
