package rlock

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/internal/lockstate"
)

// Hold is one acquisition of a lock. It ends when it is released, when its
// lease is lost, or when its client is closed, whichever is first, and says
// which. All methods are safe for concurrent use.
type Hold struct{ h lockstate.Hold }

// ownerRoom is an owner's state with room for its first hold, which is nearly
// always the only one: a pair of acquire and release makes one of them.
type ownerRoom struct {
	owner lockstate.OwnerState
	first Hold
}

func newOwnerState() (*lockstate.OwnerState, *lockstate.Hold) {
	r := new(ownerRoom)
	r.first.h.Face = &r.first
	return &r.owner, &r.first.h
}

func newHold() *lockstate.Hold {
	h := new(Hold)
	h.h.Face = h
	return &h.h
}

// Owner is who holds; hand it to As to re-enter, or its String to another
// process. From then on others may act as it, so its unlock leaves a key on the
// server for a moment, which a repetition of it finds, and is a command more.
// Ask for it while the lock is held, if others are to act as it.
func (h *Hold) Owner() Owner { return Owner{h.h.Owner()} }

// Name is the lock's name as it was given to NewLock.
func (h *Hold) Name() string { return h.h.Name() }

// Done is closed when the hold is over: released, lost, or its client closed.
// Err says which. A loss by time closes it as soon as the scheduler allows
// after ValidUntil; Err knows earlier. Each call returns the same channel.
func (h *Hold) Done() <-chan struct{} { return h.h.Done() }

// Err is nil while the lock is held, then ErrReleased, ErrLeaseLost or
// ErrClosed. It reads the clock, suspend included, and is never late: when it
// returns nil, nobody else was inside at the moment of the call, provided
// that the server keeps its data, that nobody forces the lock, and that no
// other process uses this owner.
func (h *Hold) Err() error { return h.h.Err() }

// ValidUntil is until when exclusion may be trusted without another renewal:
// the send of the last acquire or renewal plus its lease, less 1% for the
// difference of clock rates. It moves with each renewal; after the end it is
// where it stood. It holds provided that the server keeps its data and nobody
// forces the lock: FLUSHALL, DEL, a ForceUnlock elsewhere and a failover are
// noticed at the next renewal. Wall clocks jump and suspend: ask Err rather
// than compare times.
func (h *Hold) ValidUntil() time.Time { return h.h.ValidUntil() }

// Context derives a context from parent that ends with the hold;
// context.Cause then is ErrReleased, ErrLeaseLost or ErrClosed. The returned
// function frees the context and does not release the hold. It does not
// depend on the context that bounded the wait. If the hold is over already so
// is the context, with the same cause.
func (h *Hold) Context(parent context.Context) (context.Context, context.CancelFunc) {
	return h.h.Context(parent)
}

// Unlock releases this one acquisition. It sends even if ctx is over already,
// so `defer h.Unlock(ctx)` is right; once ctx is over it waits for the
// outcome for at most one command timeout more. While ctx lasts it blocks as
// long as the unlock is repeated: at most four command timeouts and a second,
// and that of the owner's last hold not beyond ValidUntil. The hold is over
// from the call on, whatever comes back, ErrUncertain included: Done is closed
// and Err is ErrReleased.
//
// nil means released, whatever ctx says. A hold that was lost still sends one
// unlock, unless its owner has newer holds of the lock in this client, and
// returns an error that is both ErrLeaseLost and ErrNotHeld. ErrReleased: an
// earlier Unlock was first, nothing was touched. ErrUncertain: no answer came
// in time; the unlock may have run, and goes on in the background while the
// lease lasts, unless Owner was called meanwhile. ErrClosed: the client is
// closed, the key is left to expire. ErrUnreplicated: the lock is free, and
// replicas may not know. ErrUnavailable: no server ran the unlock so far; the
// key is left to expire, or released later. ErrRefused: the server's error; if
// the text begins with "released, but", the lock is free, and waiters may not
// know.
func (h *Hold) Unlock(ctx context.Context) error {
	if err := h.h.Unlock(ctx); err != nil {
		return wrap("release", h.Name(), err)
	}
	return nil
}

// Extend gives a hold taken with Lease a new fixed lease of d from now, longer
// or shorter than the one it has. Other holds of its owner keep at least what
// they were promised.
//
// It blocks until the server answers, ctx ends or a command timeout has
// passed. Once sent it is not taken back: if ctx ends first the error is
// ErrUncertain and ctx's. What was refused or could not be sent changes
// nothing, not even what is trusted; the error is ErrUnavailable, ErrRefused
// or ctx's. ErrUnreplicated: it counts for as long as the shorter lease lasts.
// ErrReleased: the hold was released before.
// ErrClosed: the client is closed. An error that is both ErrLeaseLost and
// ErrNotHeld: the key is not this owner's any more and the hold is over.
// ErrUncertain: no answer, and what is trusted is the shorter of both leases;
// or it was answered, and an earlier command that the server could not be made
// to drop may still cut the lease, which is trusted for no longer than that.
// ErrInvalidOption: a hold that the watchdog extends, or d below 1 ms.
func (h *Hold) Extend(ctx context.Context, d time.Duration) error {
	err := checkLease(d)
	if err == nil {
		err = h.h.Extend(ctx, d)
	}
	if err != nil {
		return wrap("extend", h.Name(), err)
	}
	return nil
}
