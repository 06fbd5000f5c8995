package rlock

import (
	"cmp"
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
// all or none. A handle is cheap, has no state, and is safe for concurrent use.
// The calls of a zero MultiLock return ErrInvalidOption.
type MultiLock struct{ members []*Lock }

// NewMultiLock returns a handle for these locks together, Redisson's getMultiLock(locks...).
// It does no I/O. They may be of any kinds and of different clients.
//
// The members are acquired one after the other, sorted by key, and by server (as the client's
// URL names it) where two keys are the same. So callers that list the same locks in different orders do not wait for each
// other. Redisson acquires in the given order, so Java callers of these locks should list
// them in the order of their keys. While a call waits for a member, it keeps the members
// that it has, for at most 1.5 s times the number of members. Then it releases them all and
// starts again after a moment, so there is no deadlock. Redisson starts again at once.
//
// Each member is an ordinary lock with its own owner, so it excludes callers in Go or
// in Java that lock it alone. Two members of one client with the same key would wait
// for each other, so they are ErrInvalidOption, unless As names an owner for both.
func NewMultiLock(locks ...*Lock) *MultiLock { return &MultiLock{slices.Clone(locks)} }

const (
	roundFor = 1500 * time.Millisecond // how long a round may take, for each member

	// The longest pause between two rounds. Each pause is random, because two callers
	// that each want what the other one has could otherwise begin and end their rounds
	// at the same times for ever.
	betweenRounds = 100 * time.Millisecond
)

// Lock waits until all members are acquired or ctx ends. Its options are those of [Lock.Lock],
// and Wait limits the wait for all members together: when that is over, the error is ErrLocked.
// A Lease begins once all members are acquired. Until then they have a longer one. AtLeast
// begins then too. After an error this call holds nothing, except as [Lock.Lock] says. It
// blocks for at most one more command timeout to release the members that it had; the client
// then goes on in the background. Its other errors are those of [Lock.Lock].
func (m *MultiLock) Lock(ctx context.Context, opts ...AcquireOption) (*MultiHold, error) {
	return m.acquire(ctx, -1, opts)
}

// TryLock tries each member once and does not wait: the error is ErrLocked if another owner
// holds one of them. Its other errors are Lock's. It is Redisson's tryLock().
func (m *MultiLock) TryLock(ctx context.Context, opts ...AcquireOption) (*MultiHold, error) {
	return m.acquire(ctx, 0, opts)
}

// TryLockFor waits at most for wait, or until ctx ends, for all members together. Setting a
// Lease, asking what a key holds, and releasing members can each take a command timeout after
// that. ErrLocked: the wait is over. Its other errors are Lock's. It is Redisson's
// tryLock(waitTime, unit).
func (m *MultiLock) TryLockFor(ctx context.Context, wait time.Duration, opts ...AcquireOption) (*MultiHold, error) {
	return m.acquire(ctx, max(wait, 0), opts)
}

// Do runs fn while it holds all members, as [Lock.Do] does for one lock, with its errors.
func (m *MultiLock) Do(ctx context.Context, fn func(ctx context.Context) error, opts ...AcquireOption) error {
	if fn == nil {
		return wrap("use", m.names(), errNoFunction)
	}
	h, err := m.Lock(ctx, opts...)
	if err != nil {
		return err
	}
	return whileHeld(ctx, h, fn)
}

// acquire makes rounds until one gets all members, or the wait is over. With a wait of 0 it
// tries each member once; with one below 0 it waits until ctx ends, or as an option says.
func (m *MultiLock) acquire(ctx context.Context, wait time.Duration, opts []AcquireOption) (*MultiHold, error) {
	t, err := m.terms(ctx, wait, opts)
	if err != nil {
		return nil, wrap("acquire", m.names(), err)
	}
	var locked error // the last that said that a member is taken
	silent := time.Time{}
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
		if errors.Is(err, ErrLocked) {
			locked = err
		}
		// A round without an answer is an error only if there is none for two command timeouts.
		// The client gives back a grant that still comes.
		now := time.Now()
		late := (uncertain || errors.Is(err, ErrUnavailable)) && now.Sub(began) >= round
		if !late || locked != nil {
			silent = time.Time{}
		} else {
			if silent.IsZero() {
				silent = began
			}
			late = now.Sub(silent) < 2*m.timeout()
		}
		// Once a server has answered that a member is taken, the wait survives outages (A7).
		// But after a lost attempt with As the owner may have one hold more than it knows, and
		// another round would hide that.
		trouble := locked != nil && (errors.Is(err, ErrUnavailable) || uncertain)
		if err == nil || last || uncertain && t.As || !late && !trouble && !errors.Is(err, ErrLocked) {
			return h, err
		}
		pause := rand.N(betweenRounds)
		if t.HasWait {
			pause = min(pause, max(time.Until(end), 0))
		}
		select {
		case <-ctx.Done(): // the next round says so
		case <-time.After(pause):
			if t.HasWait && !time.Now().Before(end) { // another round would ask a server that may be silent
				return nil, cmp.Or(locked, err)
			}
		}
	}
}

// terms reads the options, and checks the members.
func (m *MultiLock) terms(ctx context.Context, wait time.Duration, opts []AcquireOption) (t terms, err error) {
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
		if err := l.unusableIn(ctx); err != nil {
			return t, err
		}
		if err := l.checkTerms(&t); err != nil {
			return t, err
		}
		if t.As {
			if err := l.l.MayAct(t.Owner); err != nil {
				return t, err
			}
		}
		for _, before := range m.members[:i] {
			if !t.As && before.l.SameKey(&l.l) {
				return t, fmt.Errorf("%w: %q is there twice", ErrInvalidOption, l.l.Key())
			}
		}
	}
	return t, nil
}

// timeout returns the longest command timeout of the members.
func (m *MultiLock) timeout() (longest time.Duration) {
	for _, l := range m.members {
		longest = max(longest, l.l.Client.Timeout)
	}
	return longest
}

// names joins the names of all members.
func (m *MultiLock) names() string {
	var all []string
	for _, l := range m.members {
		if l != nil {
			all = append(all, l.Name())
		}
	}
	return strings.Join(all, ", ")
}

// order returns the members' indexes in the order in which they are acquired.
func (m *MultiLock) order() []int {
	order := make([]int, len(m.members))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return m.members[a].l.Compare(&m.members[b].l) })
	return order
}

// round acquires all members, or releases those that it got. Until it has all of them, a fixed
// lease is longer by wait, so that none expires during the round, and AtLeast keeps none taken.
func (m *MultiLock) round(ctx context.Context, wait time.Duration, t terms) (all *MultiHold, err error) {
	h, order := &MultiHold{holds: make([]*Hold, 0, len(m.members))}, m.order()
	defer func() {
		if all == nil { // it failed, or an observer ended the goroutine
			h.giveBack(ctx)
		}
	}()
	member, end := t, time.Now().Add(wait)
	member.AtLeast = 0
	if t.Lease > 0 {
		member.Lease = clock.Later(wait, t.Lease)
	}
	for _, i := range order {
		left := max(time.Until(end), 0)
		if l := m.members[i]; wait > 0 && left == 0 && len(h.holds) > 0 {
			return nil, wrap("acquire", l.Name(), l.l.Taken()) // the others took all the time
		}
		one, err := m.members[i].acquire(ctx, left, []AcquireOption{acquireOption(func(to *terms) error {
			member.Wait, member.HasWait = to.Wait, true
			*to = member
			return nil
		})})
		if err != nil {
			return nil, err
		}
		h.holds = append(h.holds, one)
	}
	given := make([]*Hold, len(order))
	for at, i := range order {
		given[i] = h.holds[at]
	}
	h.holds = given
	if t.Lease > 0 {
		err = h.Extend(ctx, t.Lease)
	} else if lost := h.Err(); lost != nil {
		err = wrap("acquire", m.names(), lost)
	}
	if err != nil {
		return nil, err
	}
	if t.AtLeast > 0 {
		for _, one := range h.holds {
			one.h.KeepTaken(t.AtLeast)
		}
	}
	h.all, h.end = h.derive(context.Background(), false)
	return h, nil
}
