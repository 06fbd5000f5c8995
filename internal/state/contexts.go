package state

import (
	"context"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/section"
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
	s := h.Lock.Shard
	defer s.Enter(section.MustNotBlock).Leave()
	if why := h.Check(); why != nil {
		cancel(overError{h.Lock.Name(), why})
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
		h.endEarly(h.State.Name.Now()) // it may be time already
		h.State.Alarm()
	}
	return ctx, func() {
		sec := s.Enter(section.MustNotBlock)
		delete(*all, &cancel)
		sec.Leave()
		cancel(context.Canceled)
	}
}

// early is when the contexts with a margin must end; Never if there are none.
func (h *Hold) early() time.Duration {
	if h.ctxs == nil || len(h.ctxs.early) == 0 {
		return clock.Never
	}
	return h.Trust() - h.ctxs.margin
}

// endEarly ends the contexts with a margin, if it is time. A later renewal does not bring them back.
func (h *Hold) endEarly(now time.Duration) {
	if now < h.early() {
		return
	}
	why := fmt.Errorf("the lease ends in %v", (h.Trust() - now).Round(time.Millisecond))
	if !h.Promise.Fixed && now < h.Promise.Until {
		why = fmt.Errorf("renewals fail; %w", why)
	}
	h.endContexts(&h.ctxs.early, LostBy(why))
}

// endContexts ends all of these contexts. It is called with the shard locked.
func (h *Hold) endContexts(all *cancels, cause error) {
	for cancel := range *all {
		h.Lock.Shard.After(func() { (*cancel)(overError{h.Lock.Name(), cause}) })
	}
	*all = nil
}
