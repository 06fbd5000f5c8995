package locks

import (
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/internal/observe"
)

// observedUnlock is a call of Unlock, as an observer is told of it.
type observedUnlock struct {
	observedCall
	ended bool          // it ended a hold that had not been lost
	held  time.Duration // for how long that was held
}

// observeUnlock begins to observe an unlock.
func observeUnlock(ctx context.Context, h *Hold) observedUnlock {
	c := h.lock.Client
	if c.tellsCalls {
		returned := false
		defer func() {
			if !returned {
				abandon(h)
			}
		}()
		ctx = c.Observer.Release(ctx, h.subject())
		returned = true
	}
	return observedUnlock{observedCall: c.call(ctx)}
}

// abandon releases a hold whose caller can't, because the observer ended the goroutine.
func abandon(h *Hold) {
	defer h.lock.shard.enter(mayBlock).leave()
	if !h.released {
		giveBack(h)
	}
}

// lossOf is why and when a hold was lost, for the event of its Unlock.
func lossOf(h *Hold) (reason string, at time.Time) {
	defer h.lock.shard.enter(mustNotBlock).leave()
	now := h.state.name.Now()
	return observe.ReasonNames[h.lossReason(h.ended)], time.Now().Add(min(h.promise.End-now, 0))
}

// tell tells the observer how the unlock ended.
func (u *observedUnlock) tell(h *Hold, wasLost, err error) {
	c, s := h.lock.Client, h.subject()
	o := c.Observer
	if u.seen != nil {
		u.seen.Tell(o, s)
		c.leaveCall(u.seen)
	}
	if u.ended {
		o.Tell(observe.Event{Of: observe.HoldEnded, Subject: s, How: "released", Took: u.held, At: time.Now()})
	}
	if !c.tellsCalls {
		return
	}
	e := observe.Event{Of: observe.CallReleased, Ctx: u.ctx, Subject: s, Err: err}
	if wasLost != nil && !errors.Is(wasLost, ErrClosed) {
		e.Reason, e.At = lossOf(h)
	}
	o.Tell(e)
}
