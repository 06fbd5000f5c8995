package rlock

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/locks"
)

// Hold is one acquisition of a lock. It ends when it is released, when its
// lease is lost, or when its client is closed, whichever comes first; Err says
// which. All methods are safe for concurrent use. The zero Hold is over: its
// errors are ErrInvalidOption. A Hold must not be copied: a copy does not learn that it ended.
type Hold struct {
	_ noCopy
	h locks.Hold
}

// noCopy makes go vet report copies of the struct that has it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

var errZeroHold = fmt.Errorf("%w: the zero Hold; Lock.Lock returns one", ErrInvalidOption)

// closedChannel is the zero Hold's Done.
var closedChannel = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// isZero reports whether no client made the hold.
func (h *Hold) isZero() bool { return h.h.Face == nil }

// unusableIn returns why no call with ctx can use the hold, or nil.
func (h *Hold) unusableIn(ctx context.Context) error {
	switch {
	case h.isZero():
		return errZeroHold
	case ctx == nil:
		return errNoContext
	}
	return nil
}

// endedContext returns a context that why has ended. parent may be nil.
func endedContext(parent context.Context, why error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(cmp.Or(parent, context.Background()))
	cancel(why)
	return ctx, func() {}
}

// ownerRoom is an owner's state together with its first hold, which is nearly
// always the only one. So an acquire allocates both at once.
type ownerRoom struct {
	owner locks.OwnerState
	first Hold
}

func newOwnerState() (*locks.OwnerState, *locks.Hold) {
	r := new(ownerRoom)
	r.first.h.Face = &r.first
	return &r.owner, &r.first.h
}

func newHold() *locks.Hold {
	h := new(Hold)
	h.h.Face = h
	return &h.h
}

// Owner returns the owner that holds the lock. Pass it to As to re-enter, or
// its String to another process. If others are to act as this owner, call String
// while the lock is held. After that the unlock costs one extra command: it
// stores its result briefly, so that a retry counts once.
func (h *Hold) Owner() Owner {
	if h.isZero() {
		return Owner{}
	}
	return Owner{h.h.Owner()}
}

// Name is the lock's name, as it was given to NewLock.
func (h *Hold) Name() string {
	if h.isZero() {
		return ""
	}
	return h.h.Name()
}

// Done returns a channel that is closed when the hold is over: released, lost,
// or its client closed. Err says which. When the lease runs out, Done closes as
// soon after ValidUntil as the scheduler allows; Err knows earlier. Each call
// returns the same channel.
func (h *Hold) Done() <-chan struct{} {
	if h.isZero() {
		return closedChannel
	}
	return h.h.Done()
}

// Err is nil while the lock is held, then ErrReleased, ErrLeaseLost or ErrClosed,
// with the lock's name in its text. It reads a clock that counts suspend too, and
// is never late: when it returns nil, nobody else held the lock at the moment of
// the call, provided that the server keeps its data, that nobody forces the lock,
// and that no other process uses this owner.
func (h *Hold) Err() error {
	if h.isZero() {
		return errZeroHold
	}
	return h.h.Err()
}

// ValidUntil returns the time until which this owner certainly has the lock
// without another renewal: the time at which the last acquire or renewal was
// sent, plus its lease, less 1% for clocks that run at different rates. It
// moves with each renewal, and stays the same once the hold is over, except for
// the microseconds by which two readings of the system's clocks differ. It is
// right provided that the server keeps its data and nobody forces the lock: the
// package comment says how soon the holder notices a loss. Wall clocks jump,
// and others stop in suspend: ask Err rather than compare times.
func (h *Hold) ValidUntil() time.Time {
	if h.isZero() {
		return time.Time{}
	}
	return h.h.ValidUntil()
}

// Context derives a context from parent that also ends with the hold. Its
// context.Cause is then Err's error: ErrReleased, ErrLeaseLost or ErrClosed, with
// the lock's name. With [Margin] it ends before the hold, with ErrLeaseLost, if the hold
// is about to be lost. The returned function frees the context; it does not release the
// hold. The context does not depend on the one that limited the wait. If the hold
// is already over, the context has already ended, with the same cause. After a pause of the
// process the context may end late, while [Hold.Err] is never late. A nil parent gives a
// context that ErrInvalidOption has ended.
func (h *Hold) Context(parent context.Context) (context.Context, context.CancelFunc) {
	if err := h.unusableIn(parent); err != nil {
		return endedContext(parent, err)
	}
	return h.h.Context(parent, true)
}

// Unlock releases this one acquisition. It sends even if ctx is already over, so
// `defer h.Unlock(ctx)` is right. Once ctx is over, it waits for the outcome for
// at most one more command timeout. While ctx lasts, it blocks until the unlock
// is answered, for at most four command timeouts and a second. For the owner's
// last hold it does not block beyond ValidUntil, or a command timeout if that is
// later. The hold is over as soon as Unlock is called, whatever it returns: Done
// is closed and Err is ErrReleased.
//
// nil means released, whatever ctx says.
//
// For a hold that was lost, Unlock still sends one unlock, unless its owner has newer
// holds of the lock in this client.
//
//   - ErrLeaseLost, which is ErrNotHeld too: the lock was lost earlier, or the
//     server answered that the owner no longer holds it.
//   - ErrReleased: an earlier Unlock came first; nothing was changed.
//   - ErrUncertain: no answer came in time, or the server met an error inside
//     the script. The unlock may have run. Without an answer the client repeats
//     it in the background while the lease lasts. It does not if the owner's
//     String was called meanwhile, or if the owner has more holds: their last
//     unlock then releases this one too.
//   - ErrClosed: the client is closed; the key is left to expire.
//   - ErrUnreplicated: the lock is free, but replicas may not know. After a
//     failover the unlock is sent again, if nobody else can hold as the owner.
//   - ErrUnavailable: no server has run the unlock so far; the key expires, or
//     is released later.
//   - ErrRefused: the server's error.
//   - ErrUnannounced: the lock is free, but waiters could not be notified.
func (h *Hold) Unlock(ctx context.Context) error {
	err := h.unusableIn(ctx)
	if err == nil {
		err = locks.Unlock(ctx, &h.h)
	}
	if err != nil {
		return wrap("release", h.Name(), err)
	}
	return nil
}

// Extend gives a hold that was taken with Lease a new fixed lease of d from
// now, longer or shorter than the present one. Other holds of its owner keep at
// least what they were promised. It blocks until the server answers, ctx ends
// or a command timeout has passed.
//
//   - ErrUncertain: there was no answer, or ctx ended first (then it is ctx's
//     error too), or an earlier lost command may still shorten the lease. Only
//     the shorter lease is trusted.
//   - ErrUnavailable, ErrRefused, or ctx's error alone: Extend was refused or
//     could not be sent, and changed nothing.
//   - ErrUnreplicated: the new lease counts only while the shorter of both
//     lasts.
//   - ErrReleased: the hold was released before.
//   - ErrClosed: the client is closed.
//   - ErrLeaseLost and ErrNotHeld in one: the key is no longer this owner's,
//     and the hold is over.
//   - ErrInvalidOption: the watchdog extends this hold, or d is below 1 ms.
func (h *Hold) Extend(ctx context.Context, d time.Duration) error {
	err := cmp.Or(h.unusableIn(ctx), checkLease(d))
	if err == nil {
		err = locks.Extend(ctx, &h.h, d)
	}
	return wrap("extend", h.Name(), err)
}
