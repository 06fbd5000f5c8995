package rlock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rlock-go/redisson/internal/locks"
)

// MultiHold is one acquisition of a [MultiLock]: a [Hold] of each member. It is over as soon
// as one of them is. The others stay held until Unlock, so call it in any case. All methods
// are safe for concurrent use. The zero MultiHold is over: its errors are ErrInvalidOption. A
// MultiHold must not be copied.
type MultiHold struct {
	_     noCopy
	holds []*Hold            // in the order of the members, once all are there
	all   context.Context    // ends with the first hold that ends
	end   context.CancelFunc // frees all
}

var errZeroMultiHold = fmt.Errorf("%w: the zero MultiHold; MultiLock.Lock returns one", ErrInvalidOption)

var errGoroutineEnded = fmt.Errorf("%w: an observer ended the goroutine of its unlock", ErrUncertain)

// unusableIn returns why no call with ctx can use the hold, or nil.
func (h *MultiHold) unusableIn(ctx context.Context) error {
	switch {
	case len(h.holds) == 0:
		return errZeroMultiHold
	case ctx == nil:
		return errNoContext
	}
	return nil
}

// names joins the names of all members.
func (h *MultiHold) names() string {
	all := make([]string, len(h.holds))
	for i, one := range h.holds {
		all[i] = one.Name()
	}
	return strings.Join(all, ", ")
}

// Holds returns the members' holds in the order of NewMultiLock's locks, for the token of a
// fenced lock, or an owner to re-enter as.
func (h *MultiHold) Holds() []*Hold { return slices.Clone(h.holds) }

// Done returns a channel that is closed when the hold is over: released, a member lost, or
// its client closed. Err says which. Each call returns the same channel.
func (h *MultiHold) Done() <-chan struct{} {
	if h.all == nil {
		return closedChannel
	}
	return h.all.Done()
}

// Err is nil while all members are held, then the [Hold.Err] of the first that is not. It is
// as exact as Hold.Err.
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

// ValidUntil returns the earliest [Hold.ValidUntil] of the members.
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
	if err := h.unusableIn(parent); err != nil {
		return endedContext(parent, err)
	}
	return h.derive(parent, true)
}

// derive derives a context from ctx that ends with the first member; early: its Margin before.
func (h *MultiHold) derive(ctx context.Context, early bool) (context.Context, context.CancelFunc) {
	cancels := make([]context.CancelFunc, len(h.holds))
	for i, one := range h.holds {
		ctx, cancels[i] = one.h.Context(ctx, early)
	}
	return ctx, func() {
		for _, cancel := range slices.Backward(cancels) {
			cancel()
		}
	}
}

// Unlock releases every member, even if others fail. Its error is one line: how many holds there
// are, which of them were released, and what happened to each of the others. It wraps the errors
// of those, which are [Hold.Unlock]'s. It blocks as long as Hold.Unlock, because it releases them
// at the same time. nil means that all are released. Redisson's unlock stops at the first member
// that was lost, and goes on renewing those after it.
func (h *MultiHold) Unlock(ctx context.Context) error {
	if err := h.unusableIn(ctx); err != nil {
		return wrap("release", h.names(), err)
	}
	err := h.each("release", "released", func(one *Hold) error { return one.Unlock(ctx) })
	if h.end != nil {
		h.end()
	}
	return err
}

// Extend gives every member a fixed lease of d from now, as [Hold.Extend] does, all at the
// same time. Its error says which were extended, as Unlock's says which were released. It
// wraps the errors of the others, which are [Hold.Extend]'s.
func (h *MultiHold) Extend(ctx context.Context, d time.Duration) error {
	if err := cmp.Or(h.unusableIn(ctx), checkLease(d)); err != nil {
		return wrap("extend", h.names(), err)
	}
	return h.each("extend", "extended", func(one *Hold) error { return one.Extend(ctx, d) })
}

// each calls do for all members at the same time. doing and done name it in the error.
func (h *MultiHold) each(doing, done string, do func(*Hold) error) error {
	errs := slices.Repeat([]error{errGoroutineEnded}, len(h.holds)) // until do returns
	var all sync.WaitGroup
	for i, one := range h.holds {
		all.Go(func() { errs[i] = do(one) })
	}
	all.Wait()
	if errors.Join(errs...) == nil {
		return nil
	}
	return &membersError{h.holds, doing, done, errs}
}

// membersError has the errors of members, in the members' order. Those that did what was asked
// have nil. It is one line.
type membersError struct {
	holds       []*Hold
	doing, done string
	errs        []error
}

func (e *membersError) Error() string {
	did, failed := []string{}, ""
	for i, err := range e.errs {
		name := e.holds[i].Name()
		if err == nil {
			did = append(did, name)
			continue
		}
		text, own := err.Error(), locks.Named(e.doing, name, errors.New("")).Error()
		failed += fmt.Sprintf("; %s: %s", locks.Quote(name), strings.TrimPrefix(text, own))
	}
	all := "none"
	if len(did) > 0 {
		all = locks.Quote(strings.Join(did, ", "))
	}
	return fmt.Sprintf("rlock: %s %d holds: %s %s%s", e.doing, len(e.errs), e.done, all, failed)
}

// Unwrap returns the members' errors.
func (e *membersError) Unwrap() []error {
	return slices.DeleteFunc(slices.Clone(e.errs), func(err error) bool { return err == nil })
}

// giveBack releases the members that a round got before it failed. The round's caller may not
// wait any longer, so its ctx counts as over.
func (h *MultiHold) giveBack(ctx context.Context) {
	if len(h.holds) > 0 {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		_ = h.Unlock(ctx) // its errors are logged, and it goes on in the background where it must
	}
}
