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
// that share a handle exclude each other.
type Lock struct {
	l     lockstate.Lock
	wrong error // what is wrong with the name, told by every call that would use it; nil: nothing
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

// Lock waits until the lock is acquired or ctx ends. Without Lease the
// watchdog keeps it until Unlock, as Redisson's lock() does.
//
// After an error this call holds nothing: what was granted at the last moment
// is given back. One exception is named: ErrUncertain from an acquire with As
// says that the owner may have one hold more than it knows, until the lease
// ends. Who stopped waiting for the answer, by ctx or Close, is not told even
// that. An acquire with As tries once before it queues behind local waiters.
// It is Redisson's lockInterruptibly, with ctx in the place of the interrupt.
//
// ctx's error: ctx ended, joined with the server's last trouble if
// there was any. ErrClosed: the client was closed. ErrUncertain: the server
// answered nothing for a command timeout; what the attempt may have taken is
// given back in the background. Who had nothing sent meanwhile, because the
// connection could not be had, or because an earlier caller's attempt or an
// earlier command of its owner was still open, gets ErrUnavailable, which says
// so, instead. ErrLeaseLost: the answer came when the lease
// was over; it is given back, and Do's fn did not run. ErrInvalidOption,
// ErrInvalidName: nothing was sent. ErrUnavailable: no server ran the attempt
// for a command timeout; the text says why. ErrRefused: the server's error.
// ErrUnreplicated: replicas were asked, and for a command timeout none
// acknowledged what was granted. A wait that was once told that the lock is
// taken outlives restarts of the server.
func (l *Lock) Lock(ctx context.Context, opts ...AcquireOption) (*Hold, error) {
	return l.acquire(ctx, false, -1, opts)
}

// TryLock makes one attempt and does not wait: ErrLocked if another owner
// holds the lock. It blocks until the server answers, ctx ends, or the server
// has answered nothing for a command timeout. Its other errors are Lock's.
// Redisson's tryLock().
func (l *Lock) TryLock(ctx context.Context, opts ...AcquireOption) (*Hold, error) {
	return l.acquire(ctx, true, -1, opts)
}

// TryLockFor waits for at most wait, or until ctx ends. ErrLocked: the wait
// elapsed and the last answer was that another owner holds the lock; if the
// last attempt was not answered the text says so. A server that never
// answered is not ErrLocked: if an attempt was sent the error is ErrUncertain,
// else ErrUnavailable, which says what the attempt waited for. Its other errors are Lock's.
// With wait ≤ 0 it is TryLock. Redisson's tryLock(waitTime, unit).
func (l *Lock) TryLockFor(ctx context.Context, wait time.Duration, opts ...AcquireOption) (*Hold, error) {
	if wait <= 0 {
		return l.acquire(ctx, true, -1, opts)
	}
	return l.acquire(ctx, false, wait, opts)
}

// acquire is the common part of all calls that acquire the lock. A wait below 0
// lasts as long as ctx. It is split in two, so that a waiting goroutine has a
// small stack.
func (l *Lock) acquire(ctx context.Context, once bool, wait time.Duration, opts []AcquireOption) (*Hold, error) {
	if once {
		wait = -1
	}
	w, err := l.startAcquire(ctx, once, wait, opts)
	if err != nil {
		return nil, err
	}
	h, err := w.Result(ctx, w.Await(ctx, wait))
	if err != nil {
		return nil, wrap("acquire", l.Name(), err)
	}
	return h.Face.(*Hold), nil
}

// startAcquire begins to wait.
func (l *Lock) startAcquire(ctx context.Context, once bool, wait time.Duration, opts []AcquireOption) (*lockstate.Waiter, error) {
	if l.wrong != nil {
		return nil, l.wrong
	}
	w := lockstate.NewWaiter()
	err := setTerms(&w.Terms, opts)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = w.Start(&l.l, once, wait)
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

// UnlockAs releases one hold of an owner that has no Hold in this client:
// one that another process acquired and handed over by its string, or that a
// Java thread has. A release that leaves the owner other holds leaves the key
// the larger of its current TTL and the watchdog timeout; one that never
// expired gets the latter.
//
// It sends even if ctx is over, like Hold.Unlock, and blocks for at most four
// command timeouts and a second, once ctx is over for at most one command
// timeout more. ErrNotHeld: the owner holds nothing. ErrInvalidOption: the zero
// Owner, one with a Hold in this client, whose Unlock keeps the books, or a
// number of this client's that it never handed out.
// ErrUncertain: no answer came in time, or an earlier unlock of this owner may
// still run, see Hold.Unlock. ErrClosed: the client is closed. ErrUnavailable:
// nothing was sent, since the owner's earlier command is still open, or no
// server can be reached. ErrRefused and ErrUnreplicated are Hold.Unlock's.
func (l *Lock) UnlockAs(ctx context.Context, owner Owner) error {
	if l.wrong != nil {
		return l.wrong
	}
	err := owner.check()
	if err == nil {
		err = l.l.UnlockAs(ctx, owner.o)
	}
	if err != nil {
		return wrap("release", l.Name(), err)
	}
	return nil
}

// ForceUnlock deletes the lock whoever holds it and wakes the waiters of all
// processes; it reports whether it took the lock from anybody: whether it ended
// a Hold of this client, or there was a key to delete. Every Hold of the name
// in this client ends with ErrLeaseLost before the command is sent; so does one
// that is granted meanwhile, if the command may have deleted it. Holders
// elsewhere notice at their next renewal. With an error it reports false, also
// if it ended holds.
//
// ctx ends the wait only before the holds are ended; from then on the command
// must be sent, and it blocks until the server answers or a command timeout has
// passed. A key that holds something else than a hash is ErrRefused and left
// alone. ErrUncertain: it was sent and not answered, and is not sent again,
// since it could hit the next holder. ErrClosed: the client is closed. Holds
// that were ended stay so if the command could not be sent after all; the key
// is then left to its lease. Redisson's forceUnlock.
func (l *Lock) ForceUnlock(ctx context.Context) (bool, error) {
	if l.wrong != nil {
		return false, l.wrong
	}
	forced, err := l.l.ForceUnlock(ctx)
	if err != nil {
		return false, wrap("force", l.Name(), err)
	}
	return forced, nil
}
