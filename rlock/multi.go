package rlock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// MultiLock is Redisson's RMultiLock: several locks that are acquired together,
// all or none. A handle is cheap, holds no state of its own, and is safe for
// concurrent use. The calls of a zero MultiLock return ErrInvalidOption.
type MultiLock struct{ members []*Lock }

// NewMultiLock returns a handle for these locks together, Redisson's
// getMultiLock(locks...). It does no I/O. They may be of any kinds, and of
// several clients.
//
// The members are acquired one after the other, by server (as the client's URL names it)
// and key, whatever their order here: callers that list the same locks in different orders
// do not wait for each other. Redisson goes by the order that is given, so beside it give
// its locks in the order of their keys. While a call waits for a member, it keeps those
// before it, for at most 1.5 s times the number of members. Then it releases them all and
// begins anew after a moment, as Redisson does at once, so there is no deadlock.
//
// Each member is an ordinary lock with an owner of its own: whoever locks it alone,
// in Go or in Java, is excluded. Two members of one client with one key could wait
// for each other, so they are ErrInvalidOption, unless As names an owner for both.
func NewMultiLock(locks ...*Lock) *MultiLock { return &MultiLock{slices.Clone(locks)} }

const (
	roundFor = 1500 * time.Millisecond // what a round may take for each member

	// Two callers that each want what the other one has could begin and end their
	// rounds together for ever. So each waits for a random part of this between two
	// rounds.
	betweenRounds = 100 * time.Millisecond
)

// Lock waits until all members are acquired or ctx ends. Its options are those of
// [Lock.Lock], and Wait limits it in all: then it is ErrLocked. A lease of its own begins
// once all members are acquired. Until then they have a longer one. After an error this
// call holds nothing. Its other errors are those of [Lock.Lock]: ctx's, ErrClosed, ErrUncertain,
// ErrUnavailable, ErrLeaseLost, ErrRefused, ErrUnreplicated, ErrInvalidOption and
// ErrInvalidName.
func (m *MultiLock) Lock(ctx context.Context, opts ...AcquireOption) (*MultiHold, error) {
	return m.acquire(ctx, -1, opts)
}

// TryLock tries each member once and does not wait: the error is ErrLocked if
// another owner holds one of them. Its other errors are Lock's: ctx's, ErrClosed, ErrUncertain,
// ErrUnavailable, ErrLeaseLost, ErrRefused, ErrUnreplicated, ErrInvalidOption and
// ErrInvalidName. It is Redisson's tryLock().
func (m *MultiLock) TryLock(ctx context.Context, opts ...AcquireOption) (*MultiHold, error) {
	return m.acquire(ctx, 0, opts)
}

// TryLockFor waits at most for wait, or until ctx ends, for all members together. ErrLocked:
// the wait is over. Its other errors are Lock's: ctx's, ErrClosed, ErrUncertain,
// ErrUnavailable, ErrLeaseLost, ErrRefused, ErrUnreplicated, ErrInvalidOption and
// ErrInvalidName. It is Redisson's tryLock(waitTime, unit).
func (m *MultiLock) TryLockFor(ctx context.Context, wait time.Duration, opts ...AcquireOption) (*MultiHold, error) {
	return m.acquire(ctx, max(wait, 0), opts)
}

// Do runs fn while it holds all members, as [Lock.Do] does for one lock, with its errors:
// fn's, ErrLeaseLost, ErrLocked, ctx's, ErrUncertain, ErrUnavailable, ErrRefused,
// ErrUnreplicated, ErrClosed, ErrInvalidOption and ErrInvalidName.
func (m *MultiLock) Do(ctx context.Context, fn func(ctx context.Context) error, opts ...AcquireOption) error {
	h, err := m.Lock(ctx, opts...)
	if err != nil {
		return err
	}
	return whileHeld(ctx, h, fn)
}

// acquire makes rounds until one gets all members, or the wait is over. A wait of 0 is
// one attempt at each; one below 0 lasts as long as ctx, unless an option bounds it.
func (m *MultiLock) acquire(ctx context.Context, wait time.Duration, opts []AcquireOption) (*MultiHold, error) {
	t, err := m.terms(wait, opts)
	if err != nil {
		return nil, wrap("acquire", m.names(), err)
	}
	told, silent := false, time.Time{}
	for end := time.Now().Add(t.Wait); ; {
		round := roundFor * time.Duration(len(m.members))
		last := false
		if t.HasWait {
			left := max(time.Until(end), 0)
			last, round = left <= round, min(left, round)
		}
		began := time.Now()
		h, err := m.round(ctx, round, t)
		uncertain := errors.Is(err, ErrUncertain)
		told = told || errors.Is(err, ErrLocked)
		// A round that ends without an answer says nothing, unless there is none for two command timeouts. A grant that
		// still comes is given back.
		now := time.Now()
		late := (uncertain || errors.Is(err, ErrUnavailable)) && now.Sub(began) >= round
		if !late || told {
			silent = time.Time{}
		} else {
			if silent.IsZero() {
				silent = began
			}
			late = now.Sub(silent) < 2*m.timeout()
		}
		// A wait that was told "taken" outlives its servers' outages (A7). But an owner that acts by As may hold one more
		// than is known after a lost attempt, and another round would hide that.
		trouble := told && (errors.Is(err, ErrUnavailable) || uncertain)
		if err == nil || last || uncertain && t.As || !late && !trouble && !errors.Is(err, ErrLocked) {
			return h, err
		}
		select {
		case <-ctx.Done(): // the next round says so
		case <-time.After(rand.N(betweenRounds)):
		}
	}
}

// terms are what the options ask for.
func (m *MultiLock) terms(wait time.Duration, opts []AcquireOption) (t terms, err error) {
	if err := setTerms(&t, wait, opts); err != nil {
		return t, err
	}
	if len(m.members) == 0 {
		return t, fmt.Errorf("%w: a MultiLock without locks", ErrInvalidOption)
	}
	for i, l := range m.members {
		if l == nil {
			return t, fmt.Errorf("%w: a nil Lock in a MultiLock", ErrInvalidOption)
		}
		if err := l.unusable(); err != nil {
			return t, err
		}
		for _, before := range m.members[:i] {
			if !t.As && before.l.SameKey(&l.l.Lock) {
				return t, fmt.Errorf("%w: %q is there twice", ErrInvalidOption, l.l.Key())
			}
		}
	}
	return t, nil
}

// timeout is the longest command timeout of its members.
func (m *MultiLock) timeout() (longest time.Duration) {
	for _, l := range m.members {
		longest = max(longest, l.l.Timeout())
	}
	return longest
}

// names are those of all members.
func (m *MultiLock) names() string {
	var all []string
	for _, l := range m.members {
		if l != nil {
			all = append(all, l.Name())
		}
	}
	return strings.Join(all, ", ")
}

// order is in which the members are acquired.
func (m *MultiLock) order() []int {
	order := make([]int, len(m.members))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return m.members[a].l.Compare(&m.members[b].l.Lock) })
	return order
}

// round acquires the members, or releases what it has got. While it lasts they have a
// lease that outlasts it.
func (m *MultiLock) round(ctx context.Context, wait time.Duration, t terms) (*MultiHold, error) {
	h, order := &MultiHold{holds: make([]*Hold, 0, len(m.members))}, m.order()
	member, end := t, time.Now().Add(wait)
	if t.Lease > 0 {
		member.Lease = clock.Later(wait, t.Lease)
	}
	for _, i := range order {
		one, err := m.members[i].acquire(ctx, max(time.Until(end), 0), []AcquireOption{func(to *terms) error {
			member.Wait, member.HasWait = to.Wait, true
			*to = member
			return nil
		}})
		if err != nil {
			return nil, h.giveBack(ctx, err)
		}
		h.holds = append(h.holds, one)
	}
	given := make([]*Hold, len(order))
	for at, i := range order {
		given[i] = h.holds[at]
	}
	h.holds = given
	var err error
	if t.Lease > 0 {
		err = h.Extend(ctx, t.Lease)
	} else if lost := h.Err(); lost != nil {
		err = wrap("acquire", m.names(), lost)
	}
	if err != nil {
		return nil, h.giveBack(ctx, err)
	}
	h.all, h.end = h.Context(context.Background())
	return h, nil
}
