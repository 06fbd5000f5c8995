package rlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// MultiHold is one acquisition of a [MultiLock]: a [Hold] of each member. It is over as
// soon as one of them is. The others stay held until Unlock, as after any loss: call
// it in any case. All methods are safe for concurrent use. The zero MultiHold is over:
// its errors are ErrInvalidOption.
type MultiHold struct {
	holds []*Hold            // in the order of the members, once all are there
	all   context.Context    // ends with the first of them
	end   context.CancelFunc // frees it
}

var errZeroMultiHold = fmt.Errorf("%w: the zero MultiHold; MultiLock.Lock returns one", ErrInvalidOption)

// Holds are the members' own, in the order of NewMultiLock's locks: for the token of
// a fenced lock, or an owner to re-enter as.
func (h *MultiHold) Holds() []*Hold { return slices.Clone(h.holds) }

// Done is closed when the hold is over: released, a member lost, or its client closed.
// Err says which. Each call returns the same channel.
func (h *MultiHold) Done() <-chan struct{} {
	if h.all == nil {
		return closedChannel
	}
	return h.all.Done()
}

// Err is nil while all members are held, then what [Hold.Err] says of the first that is
// not. It is as exact as that.
func (h *MultiHold) Err() error {
	if len(h.holds) == 0 {
		return errZeroMultiHold
	}
	for _, one := range h.holds {
		if err := one.Err(); err != nil {
			return err
		}
	}
	return nil
}

// ValidUntil is the earliest of the members', see [Hold.ValidUntil].
func (h *MultiHold) ValidUntil() (earliest time.Time) {
	for i, one := range h.holds {
		if until := one.ValidUntil(); i == 0 || until.Before(earliest) {
			earliest = until
		}
	}
	return earliest
}

// Context derives a context from parent that also ends with the hold, as
// [Hold.Context] does.
func (h *MultiHold) Context(parent context.Context) (context.Context, context.CancelFunc) {
	if len(h.holds) == 0 {
		return new(Hold).Context(parent)
	}
	ctx, cancels := parent, make([]context.CancelFunc, len(h.holds))
	for i, one := range h.holds {
		ctx, cancels[i] = one.Context(ctx)
	}
	return ctx, func() {
		for _, cancel := range slices.Backward(cancels) {
			cancel()
		}
	}
}

// Unlock releases every member, whatever becomes of the others, and joins the errors.
// Each is as [Hold.Unlock] says: ErrLeaseLost, ErrReleased, ErrUncertain, ErrClosed,
// ErrUnreplicated, ErrUnavailable, ErrRefused, or ErrInvalidOption for the zero MultiHold. So
// is how long it takes: they are released at the same time. nil means that all are released. Redisson's unlock stops at the first
// member that was lost, and goes on to renew those behind it.
func (h *MultiHold) Unlock(ctx context.Context) error {
	err := h.each(func(one *Hold) error { return one.Unlock(ctx) })
	if h.end != nil {
		h.end()
	}
	return err
}

// Extend gives every member a fixed lease of d from now, as [Hold.Extend] does, all at
// the same time, and joins the errors: ctx's, ErrUncertain, ErrUnavailable, ErrRefused,
// ErrUnreplicated, ErrReleased, ErrClosed, ErrLeaseLost and ErrInvalidOption.
func (h *MultiHold) Extend(ctx context.Context, d time.Duration) error {
	return h.each(func(one *Hold) error { return one.Extend(ctx, d) })
}

// each does the same to all members at the same time, and joins the errors in order.
func (h *MultiHold) each(do func(*Hold) error) error {
	if len(h.holds) == 0 {
		return errZeroMultiHold
	}
	errs := make([]error, len(h.holds))
	var all sync.WaitGroup
	for i, one := range h.holds {
		all.Go(func() { errs[i] = do(one) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// giveBack releases what a round got before it failed with err.
func (h *MultiHold) giveBack(ctx context.Context, err error) error {
	if len(h.holds) > 0 {
		_ = h.Unlock(ctx) // logged, and goes on where it must
	}
	return err
}
