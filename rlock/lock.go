package rlock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/lockstate"
)

// Lock is Redisson's RLock: a re-entrant lock with a name, held by an [Owner].
// A handle is cheap, holds no state of its own, and is safe for concurrent use.
// Two handles with one name are the same lock.
//
// Every acquisition without As gets its own owner, so two goroutines that share
// a handle exclude each other. The calls of a zero Lock return
// ErrInvalidOption.
type Lock struct {
	l     lockstate.Lock
	wrong error // what is wrong with the name, told by every call that would use it; nil: nothing
}

var errZeroHandle = fmt.Errorf("rlock: %w: a zero handle; take one from its Client", ErrInvalidOption)

// unusable is why no call can use the handle, or nil. Only a zero Lock, or one with
// something wrong, has no key.
func (l *Lock) unusable() error {
	if l.wrong == nil && l.l.Key() == "" {
		return errZeroHandle
	}
	return l.wrong
}

// Name is the name that was given to NewLock.
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

// Lock waits until the lock is acquired or ctx ends. With Wait it waits at most
// that long, and then fails as TryLockFor does. Without Lease the watchdog
// keeps the lock until Unlock, as Redisson's lock() does. An acquire with As
// tries once before it queues behind local waiters. Once a wait has had the
// answer that the lock is taken, it survives restarts of the server. It is
// Redisson's lockInterruptibly, with ctx in place of the interrupt.
//
// After an error this call holds nothing: a grant that comes at the last moment
// is given back. There is one exception. If an acquire with As ends with
// ErrUncertain, or if ctx or Close ends its wait for an answer, the owner may
// have one hold more than it knows, until the lease ends.
//
//   - ctx's error: ctx ended. It is joined with the server's last error, if
//     there was one, and with ErrUncertain if others may use the owner and its
//     last attempt was not answered.
//   - ErrClosed: the client was closed.
//   - ErrUncertain: the server did not answer for a command timeout. What the
//     attempt may have taken is given back in the background.
//   - ErrUnavailable: nothing was sent (no connection, or an earlier attempt or
//     an earlier command of the owner was still pending), or no server ran the
//     attempt for a command timeout. The text says which.
//   - ErrLeaseLost: the answer came after the lease was over. The grant is
//     given back, and Do has not run fn.
//   - ErrInvalidOption, ErrInvalidName: nothing was sent.
//   - ErrRefused: the server's error.
//   - ErrUnreplicated: for a command timeout no replica acknowledged the grant.
func (l *Lock) Lock(ctx context.Context, opts ...AcquireOption) (*Hold, error) {
	return l.acquire(ctx, -1, opts)
}

// TryLock makes one attempt and does not wait: the error is ErrLocked if
// another owner holds the lock. It blocks until the server answers, ctx ends,
// or the server has not answered for a command timeout. It is Lock with
// Wait(0), so Wait itself is ErrInvalidOption. Its other errors are Lock's:
// ctx's, ErrClosed, ErrUncertain, ErrUnavailable, ErrLeaseLost, ErrInvalidName,
// ErrRefused and ErrUnreplicated. It is Redisson's tryLock().
func (l *Lock) TryLock(ctx context.Context, opts ...AcquireOption) (*Hold, error) {
	return l.acquire(ctx, 0, opts)
}

// TryLockFor waits at most for wait, or until ctx ends. If the key never expires, or
// holds something else, it asks then what that is, for a command timeout at most.
// ErrLocked: the wait is over, and the last answer was that another owner holds the
// lock. If an attempt after that was not answered, the text says so, and whatever it
// took is given back; of an owner that others may use it is ErrUncertain. If the server
// never answered, the error is not ErrLocked: it is ErrUncertain if an attempt was
// sent, otherwise ErrUnavailable, which says what it waited for. With wait ≤ 0 it is
// TryLock. It is Lock with Wait(wait), so a second Wait is ErrInvalidOption. Its
// other errors are Lock's: ctx's, ErrClosed, ErrLeaseLost, ErrInvalidName,
// ErrRefused and ErrUnreplicated. It is Redisson's tryLock(waitTime, unit).
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
		if errors.Is(err, ErrLocked) && w.Forever() {
			err = l.noLock(ctx, err)
		}
		return nil, wrap("acquire", l.Name(), l.named(ctx, err))
	}
	return h.Face.(*Hold), nil
}

// startAcquire begins to wait.
func (l *Lock) startAcquire(ctx context.Context, wait time.Duration, opts []AcquireOption) (*lockstate.Waiter, error) {
	if err := l.unusable(); err != nil {
		return nil, err
	}
	w := l.l.NewWaiter()
	err := setTerms(&w.Terms, wait, opts)
	if err == nil && w.Terms.AtLeast > 0 && !l.l.Keeps() {
		err = fmt.Errorf("%w: AtLeast is for locks that one owner holds alone", ErrInvalidOption)
	}
	if err == nil {
		err = w.Begin(ctx)
	}
	if err != nil {
		return nil, wrap("acquire", l.Name(), err)
	}
	return w, nil
}

func setTerms(t *terms, wait time.Duration, opts []AcquireOption) error {
	if wait >= 0 {
		t.Wait, t.HasWait = wait, true
	}
	for _, o := range opts {
		if o == nil {
			return fmt.Errorf("%w: a nil AcquireOption", ErrInvalidOption)
		}
		if err := o(t); err != nil {
			return err
		}
	}
	if t.Lease > 0 && t.MaxHold > 0 {
		return fmt.Errorf("%w: Lease and MaxHold: a fixed lease ends by itself", ErrInvalidOption)
	}
	if least := min(cmp.Or(t.Lease, t.AtLeast), cmp.Or(t.MaxHold, t.AtLeast)); t.AtLeast > least {
		return fmt.Errorf("%w: AtLeast(%v) above the Lease or MaxHold of %v", ErrInvalidOption, t.AtLeast, least)
	}
	return nil
}

// UnlockAs releases one hold of an owner that has no Hold in this client: one
// that another process acquired and handed over by its string, or a Java
// thread's. If the owner has more holds, the key keeps the larger of its
// current TTL and the watchdog timeout; a key that never expired gets the
// latter.
//
// It sends even if ctx is over, like Hold.Unlock, and blocks for at most four
// command timeouts and a second. Once ctx is over, it blocks for at most one
// more command timeout.
//
//   - ErrNotHeld: the owner holds nothing.
//   - ErrInvalidOption: the zero Owner, an owner with a Hold in this client
//     (unlock that Hold), or an owner with this client's id that it never
//     handed out.
//   - ErrUncertain: no answer came in time, or an earlier unlock of this owner
//     may still run, see Hold.Unlock.
//   - ErrClosed: the client is closed.
//   - ErrUnavailable: nothing was sent, because an earlier command of the owner
//     is still pending or no server can be reached.
//   - ErrRefused and ErrUnreplicated: see Hold.Unlock.
func (l *Lock) UnlockAs(ctx context.Context, owner Owner) error {
	if err := l.unusable(); err != nil {
		return err
	}
	err := owner.check()
	if err == nil {
		err = l.l.UnlockAs(ctx, owner.o)
	}
	return wrap("release", l.Name(), err)
}

// ForceUnlock deletes the lock, whoever holds it, and wakes the waiters of all processes. It
// returns true if it took the lock from somebody: if it ended a Hold of this client, or if
// there was a key to delete. Before it sends the command, it ends every Hold of the name in
// this client with ErrLeaseLost. A hold that is granted meanwhile ends too, if the command may
// have deleted its key. Holders elsewhere learn it as of any loss; see the package comment.
// With an error it returns false, even if it ended holds, unless it deleted the lock and only
// could not announce it. It is Redisson's forceUnlock.
//
// ctx can end the wait only before holds are ended. After that the command must
// be sent, and ForceUnlock blocks until the server answers or a command timeout
// has passed.
//
//   - ErrRefused: the key is not a hash; it is left alone. If it returns true too,
//     the lock is free, but waiters may not know.
//   - ErrUncertain: the command was sent and not answered. It is not sent
//     again, because it could hit the next holder.
//   - ErrClosed: the client is closed.
//   - ErrUnavailable: the command could not be sent, and the key is left to its
//     lease. Holds that were ended stay ended.
func (l *Lock) ForceUnlock(ctx context.Context) (bool, error) { return l.force(ctx, "force") }

func (l *Lock) force(ctx context.Context, doing string) (bool, error) {
	if err := l.unusable(); err != nil {
		return false, err
	}
	forced, err := l.l.ForceUnlock(ctx)
	return forced, wrap(doing, l.Name(), err)
}
