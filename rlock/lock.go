package rlock

import (
	"context"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/lockstate"
)

// Lock is Redisson's RLock: a re-entrant lock by name, held by an [Owner]. A
// handle is cheap, holds no state of its own, and is safe for concurrent use;
// two handles of one name are the same lock.
//
// Every acquisition without As gets an owner of its own, so two goroutines
// that share a handle exclude each other. The calls of a zero Lock return
// ErrInvalidOption.
type Lock struct {
	l     lockstate.Lock
	wrong error // what is wrong with the name, told by every call that would use it; nil: nothing
}

var errZeroLock = fmt.Errorf("rlock: %w: the zero Lock; take one from Client.NewLock", ErrInvalidOption)

// unusable is why no call can use the handle, or nil. Only a zero Lock, or one with
// something wrong, has no key.
func (l *Lock) unusable() error {
	if l.wrong == nil && l.l.Key() == "" {
		return errZeroLock
	}
	return l.wrong
}

// Name is what NewLock was given.
func (l *Lock) Name() string { return l.l.Name() }

// longestName bounds a key: a connection refuses answers of more than a
// mebibyte, and the server's answer to SUBSCRIBE has the name in it.
const longestName = 512 << 10

// checkName tells what is wrong with the name, if anything is.
func (l *Lock) checkName() error {
	name, key := l.l.Name(), l.l.Key()
	var err error
	switch {
	case name == "":
		err = fmt.Errorf("%w: it is empty", ErrInvalidName)
	case key == "":
		err = fmt.Errorf("%w: the NameMapper made it empty", ErrInvalidName)
	case len(key) > longestName:
		err = fmt.Errorf("%w: %d bytes; at most %d", ErrInvalidName, len(key), longestName)
	default:
		if err = l.l.Scattered(); err == nil {
			return nil
		}
		err = fmt.Errorf("%w: %w", ErrInvalidName, err)
	}
	return wrap("use", name, err)
}

// Lock waits until the lock is acquired or ctx ends. With Wait it waits for so
// long at most, and then fails as TryLockFor does. Without Lease the watchdog
// keeps the lock until Unlock, as Redisson's lock() does.
//
// After an error this call holds nothing: a grant that came at the last moment
// is given back. There is one exception: ErrUncertain from an acquire with As
// says that the owner may have one hold more than it knows, until the lease
// ends. If ctx or Close ended the wait for the answer, that may be so too, and
// the error does not say it. An acquire with As tries once before it queues
// behind local waiters. It is Redisson's lockInterruptibly, with ctx in the
// place of the interrupt.
//
// ctx's error: ctx ended; it is joined with the server's last error if there
// was one. ErrClosed: the client was closed. ErrUncertain: the server did not
// answer for a command timeout; what the attempt may have taken is given back
// in the background. ErrUnavailable: nothing was sent (no connection, or an
// earlier attempt or an earlier command of the owner was still pending), or no
// server ran the attempt for a command timeout; the text says which.
// ErrLeaseLost: the answer came when the lease was over; the grant is given
// back, and Do's fn did not run. ErrInvalidOption, ErrInvalidName: nothing was
// sent. ErrRefused: the server's error. ErrUnreplicated: replicas were asked,
// and for a command timeout none acknowledged the grant. Once a wait has had
// the answer that the lock is taken, it survives restarts of the server.
func (l *Lock) Lock(ctx context.Context, opts ...AcquireOption) (*Hold, error) {
	return l.acquire(ctx, -1, opts)
}

// TryLock makes one attempt and does not wait: ErrLocked if another owner
// holds the lock. It blocks until the server answers, ctx ends, or the server
// has not answered for a command timeout. Its other errors are Lock's. It is
// Lock with Wait(0), so Wait itself is ErrInvalidOption. It is Redisson's
// tryLock().
func (l *Lock) TryLock(ctx context.Context, opts ...AcquireOption) (*Hold, error) {
	return l.acquire(ctx, 0, opts)
}

// TryLockFor waits for at most wait, or until ctx ends. ErrLocked: the wait
// elapsed and the last answer was that another owner holds the lock; if the
// last attempt was not answered, the text says so. A server that never
// answered is not ErrLocked: the error is ErrUncertain if an attempt was sent,
// otherwise ErrUnavailable, which says what the attempt waited for. Its other
// errors are Lock's. With wait ≤ 0 it is TryLock. It is Lock with Wait(wait), so
// a second Wait is ErrInvalidOption. It is Redisson's tryLock(waitTime, unit).
func (l *Lock) TryLockFor(ctx context.Context, wait time.Duration, opts ...AcquireOption) (*Hold, error) {
	return l.acquire(ctx, max(wait, 0), opts)
}

// acquire is the common part of all calls that acquire the lock. A wait of 0 is
// one attempt; one below 0 lasts as long as ctx, unless an option bounds it. It
// is split in two, so that a waiting goroutine has a small stack.
func (l *Lock) acquire(ctx context.Context, wait time.Duration, opts []AcquireOption) (*Hold, error) {
	w, err := l.startAcquire(ctx, wait, opts)
	if err != nil {
		return nil, err
	}
	h, err := w.Result(ctx, w.Await(ctx))
	if err != nil {
		return nil, wrap("acquire", l.Name(), err)
	}
	return h.Face.(*Hold), nil
}

// startAcquire begins to wait.
func (l *Lock) startAcquire(ctx context.Context, wait time.Duration, opts []AcquireOption) (*lockstate.Waiter, error) {
	if err := l.unusable(); err != nil {
		return nil, err
	}
	w := l.l.NewWaiter()
	if wait >= 0 {
		w.Terms.Wait, w.Terms.HasWait = wait, true
	}
	err := setTerms(&w.Terms, opts)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		return nil, wrap("acquire", l.Name(), err)
	}
	return w, nil
}

func setTerms(t *terms, opts []AcquireOption) error {
	for _, o := range opts {
		if o == nil {
			return fmt.Errorf("%w: a nil AcquireOption", ErrInvalidOption)
		}
		if err := o(t); err != nil {
			return err
		}
	}
	if t.HasLease && t.HasMax {
		return fmt.Errorf("%w: Lease and MaxHold: a fixed lease ends by itself", ErrInvalidOption)
	}
	return nil
}

// UnlockAs releases one hold of an owner that has no Hold in this client: one
// that another process acquired and handed over by its string, or a Java
// thread's. If the owner has other holds, the key keeps the larger of its
// current TTL and the watchdog timeout; a key that never expired gets the
// latter.
//
// It sends even if ctx is over, like Hold.Unlock, and blocks for at most four
// command timeouts and a second; once ctx is over, for at most one command
// timeout more. ErrNotHeld: the owner holds nothing. ErrInvalidOption: the
// zero Owner, an owner with a Hold in this client, which is released by that
// Hold, or a number of this client's that it never handed out. ErrUncertain:
// no answer came in time, or an earlier unlock of this owner may still run,
// see Hold.Unlock. ErrClosed: the client is closed. ErrUnavailable: nothing
// was sent, because the owner's earlier command is still pending, or no server
// can be reached. ErrRefused and ErrUnreplicated are Hold.Unlock's.
func (l *Lock) UnlockAs(ctx context.Context, owner Owner) error {
	err := l.unusable()
	if err != nil {
		return err
	}
	err = owner.check()
	if err == nil {
		err = l.l.UnlockAs(ctx, owner.o)
	}
	if err != nil {
		return wrap("release", l.Name(), err)
	}
	return nil
}

// ForceUnlock deletes the lock whoever holds it, and wakes the waiters of all
// processes. It reports whether it took the lock from anybody: whether it
// ended a Hold of this client, or there was a key to delete. Every Hold of the
// name in this client ends with ErrLeaseLost before the command is sent; so
// does a hold that is granted meanwhile, if the command may have deleted it.
// Holders elsewhere notice at their next renewal. With an error it reports
// false, even if it ended holds.
//
// ctx ends the wait only before the holds are ended. From then on the command
// must be sent, and ForceUnlock blocks until the server answers or a command
// timeout has passed. ErrRefused: the key is not a hash; it is left alone.
// ErrUncertain: the command was sent and not answered. It is not sent again,
// since it could hit the next holder. ErrClosed: the client is closed. If the
// command could not be sent after all, the holds stay ended and the key is
// left to its lease. It is Redisson's forceUnlock.
func (l *Lock) ForceUnlock(ctx context.Context) (bool, error) {
	if err := l.unusable(); err != nil {
		return false, err
	}
	forced, err := l.l.ForceUnlock(ctx)
	if err != nil {
		return false, wrap("force", l.Name(), err)
	}
	return forced, nil
}
