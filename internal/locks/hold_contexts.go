package locks

import (
	"context"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// contexts are the contexts that end with a hold, or its Margin before.
type contexts struct {
	margin time.Duration // how long before the end of trust the early ones end
	early  cancels       // nil without a margin
	late   cancels       // end when the hold is over
}

type cancels map[*context.CancelCauseFunc]struct{}

// Context derives a context from parent that ends with the hold; early: its Margin before.
func (h *Hold) Context(parent context.Context, early bool) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	s := h.lock.shard
	defer s.enter(mustNotBlock).leave()
	if why := h.check(); why != nil {
		cancel(overError{h.lock.holding(), h.lock.name, why})
		return ctx, func() {}
	}
	if h.ctxs == nil {
		h.ctxs = new(contexts)
	}
	all := &h.ctxs.late
	if early && h.ctxs.margin > 0 {
		all = &h.ctxs.early
	}
	if *all == nil {
		*all = make(cancels, 1)
	}
	(*all)[&cancel] = struct{}{}
	if all == &h.ctxs.early {
		h.endEarly(h.state.name.Now()) // it may be time already
		h.state.alarm()
	}
	return ctx, func() {
		sec := s.enter(mustNotBlock)
		delete(*all, &cancel)
		sec.leave()
		cancel(context.Canceled)
	}
}

// early is when the contexts with a margin must end; Never if there are none.
func (h *Hold) early() time.Duration {
	if h.ctxs == nil || len(h.ctxs.early) == 0 {
		return clock.Never
	}
	return h.trust() - h.ctxs.margin
}

// endEarly ends the contexts with a margin, if it is time. A later renewal does not bring them back.
func (h *Hold) endEarly(now time.Duration) {
	if now < h.early() {
		return
	}
	why := fmt.Errorf("the lease ends in %v", (h.trust() - now).Round(time.Millisecond))
	if !h.promise.Fixed && now < h.promise.Until {
		why = fmt.Errorf("renewals fail; %w", why)
	}
	h.endContexts(&h.ctxs.early, lostBy(why))
}

// endContexts ends all of these contexts. It is called with the shard locked.
func (h *Hold) endContexts(all *cancels, cause error) {
	for cancel := range *all {
		h.lock.shard.After(func() { (*cancel)(overError{h.lock.holding(), h.lock.name, cause}) })
	}
	*all = nil
}
