package rlock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/locks"
)

// Lock is Redisson's RLock: a re-entrant lock with a name, held by an [Owner]. A
// handle is cheap, has no state, and is safe for concurrent use. Two handles with
// one name are the same lock.
//
// Every acquisition without As gets its own owner, so two goroutines that share
// a handle exclude each other. The calls of a zero Lock return
// ErrInvalidOption.
type Lock struct {
	l     locks.Lock
	wrong error // what is wrong with the name; every call that would use the name returns it
}

var errZeroHandle = fmt.Errorf("rlock: %w: a zero handle; take one from its Client", ErrInvalidOption)

var errNoContext = fmt.Errorf("%w: a nil context", ErrInvalidOption)

// unusableIn returns why no call with ctx can use the handle, or nil. A handle without a client is
// the zero Lock, unless its name is wrong.
func (l *Lock) unusableIn(ctx context.Context) error {
	switch {
	case l.wrong != nil:
		return l.wrong
	case l.l.Client == nil:
		return errZeroHandle
	case ctx == nil:
		return wrap("use", l.Name(), errNoContext)
	}
	return nil
}

// unusable is unusableIn for a call that sends nothing.
func (l *Lock) unusable() error { return l.unusableIn(context.Background()) }

// Name is the name that was given to NewLock.
func (l *Lock) Name() string { return l.l.Name() }

// longestName bounds a key, because the server's answer to SUBSCRIBE contains it, and a
// connection refuses answers of more than a mebibyte.
const longestName = 512 << 10

// checkName returns what is wrong with the name, or nil.
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
// renews the lock until Unlock, as after Redisson's lock(). An acquire with As
// tries once before it queues behind local waiters. Once the server has
// answered that the lock is taken, the wait survives restarts of the server. It
// is Redisson's lockInterruptibly, with ctx in place of the interrupt.
//
// After an error this call holds nothing: the client gives back a grant that
// comes at the last moment. There is one exception. If an acquire with As ends
// with ErrUncertain, or if ctx or Close ends its wait for an answer, the owner
// may have one hold more than it knows, until the lease ends.
//
//   - ctx's error: ctx ended. It is joined with the server's last error, if
//     there was one, with ErrRefused if the key is a hash and no lock (see TryLockFor),
//     and with ErrUncertain if the owner is marked (see [Owner.String]) and the last
//     attempt had no answer.
//   - ErrClosed: the client was closed.
//   - ErrUncertain: the server did not answer for a command timeout. The client gives
//     back in the background what the attempt may have taken.
//   - ErrUnavailable: nothing was sent (no connection, or an earlier attempt or
//     an earlier command of the owner was still pending), or no server ran the
//     attempt for a command timeout. The text says which.
//   - ErrLeaseLost: the answer came after the lease was over. The client gives back the
//     grant, and Do has not run fn.
//   - ErrInvalidOption, ErrInvalidName: nothing was sent.
//   - ErrRefused: the server's error.
//   - ErrUnreplicated: for a command timeout no replica acknowledged the grant.
func (l *Lock) Lock(ctx context.Context, opts ...AcquireOption) (*Hold, error) {
	return l.acquire(ctx, -1, opts)
}

// TryLock makes one attempt and does not wait: the error is ErrLocked if another
// owner holds the lock. It blocks until the server answers, ctx ends, or a command
// timeout has passed without an answer. Waiting for a connection or for earlier
// commands is part of that time. If the key never expires, it then asks what the
// key holds, as TryLockFor does. It is Lock with Wait(0), so Wait itself is
// ErrInvalidOption. Its other errors are Lock's. It is Redisson's tryLock().
func (l *Lock) TryLock(ctx context.Context, opts ...AcquireOption) (*Hold, error) {
	return l.acquire(ctx, 0, opts)
}

// TryLockFor waits at most for wait, or until ctx ends. ErrLocked: the wait is over, and the last
// answer was that another owner holds the lock. The text says whether this client holds it, or
// else for how long the call was refused, and the TTL that the server said last. If an attempt
// after that was not answered, the text says so, and the client gives back whatever it took; if
// others may use its owner, the error is ErrUncertain. If the server never answered, the error is
// ErrUncertain if an attempt was sent, otherwise ErrUnavailable, whose text says what the call
// waited for. With wait ≤ 0 it is TryLock. It is Lock with Wait(wait), so a second Wait is
// ErrInvalidOption. Its other errors are Lock's. It is Redisson's tryLock(waitTime, unit).
//
// If the key never expires, a call whose wait is over asks what the key holds, for a command
// timeout at most. If that is a hash but no lock, the error is ErrRefused. Such a hash with a TTL
// counts as locked until it expires, and at a fair lock every such hash does, because its calls
// don't learn the TTL. A read-write lock refuses such a hash at once.
func (l *Lock) TryLockFor(ctx context.Context, wait time.Duration, opts ...AcquireOption) (*Hold, error) {
	return l.acquire(ctx, max(wait, 0), opts)
}

// acquire is common to all calls that acquire the lock. With a wait of 0 it makes
// one attempt; with one below 0 it waits until ctx ends, or as an option says.
// startAcquire is apart, so that a waiting goroutine has a small stack.
func (l *Lock) acquire(ctx context.Context, wait time.Duration, opts []AcquireOption) (*Hold, error) {
	w, err := l.startAcquire(ctx, wait, opts)
	if err != nil {
		return nil, err
	}
	h, err := w.Result(ctx, w.Await(ctx))
	if err != nil {
		switch {
		case (errors.Is(err, ErrLocked) || ctx.Err() != nil) && w.Forever():
			err = l.noLock(ctx, err)
		case errors.Is(err, ErrNoPermits) && w.Size > 1 && !w.OneTry:
			err = l.tooFew(ctx, w.Size, err)
		}
		return nil, wrap("acquire", l.Name(), l.named(ctx, err))
	}
	return h.Face.(*Hold), nil
}

// startAcquire checks the options and begins the wait.
func (l *Lock) startAcquire(ctx context.Context, wait time.Duration, opts []AcquireOption) (*locks.Waiter, error) {
	if err := l.unusableIn(ctx); err != nil {
		return nil, err
	}
	w := locks.NewWaiter(&l.l)
	err := setTerms(&w.Terms, wait, opts)
	if err == nil {
		err = l.checkTerms(&w.Terms)
	}
	if err == nil {
		err = w.Begin(ctx)
	}
	if err != nil {
		return nil, wrap("acquire", l.Name(), err)
	}
	return w, nil
}

// checkTerms returns why no lock of l's kind can be acquired on these terms, or nil. Without a
// Margin they get the client's.
func (l *Lock) checkTerms(t *terms) error {
	if t.AtLeast > 0 && !l.l.Traits.Keeps {
		return fmt.Errorf("%w: AtLeast is for locks that one owner holds alone", ErrInvalidOption)
	}
	lease := cmp.Or(t.Lease, l.l.Client.Watchdog)
	if t.MaxHold > 0 {
		lease = min(lease, t.MaxHold)
	}
	if !t.HasMargin {
		t.Margin = l.l.Client.Margin
	}
	if t.Margin > lease/2 {
		return fmt.Errorf("%w: a Margin of %v; at most half of the lease, which is %v", ErrInvalidOption, t.Margin, lease)
	}
	return nil
}

func setTerms[O AcquireOption](t *terms, wait time.Duration, opts []O) error {
	if wait >= 0 {
		t.Wait, t.HasWait = wait, true
	}
	for _, o := range opts {
		if any(o) == nil {
			return fmt.Errorf("%w: a nil option", ErrInvalidOption)
		}
		if err := o.setTerms(t); err != nil {
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

// UnlockAs releases one hold of an owner that has no Hold in this client: an
// owner that another process handed over by its string, or a Java thread. If the
// owner has more holds, the key keeps the larger of its current TTL and the
// watchdog timeout; a key that never expired gets the latter. For an owner that this
// client made and never showed by String, it releases all holds, not one.
//
// It sends even if ctx is over, like Hold.Unlock, and blocks for at most four
// command timeouts and a second. Once ctx is over, it blocks for at most one
// more command timeout.
//
//   - ErrNotHeld: the owner holds nothing. If an earlier reply was lost, UnlockAs takes
//     this answer for success and returns nil.
//   - ErrInvalidOption: the zero Owner, an owner with a Hold in this client
//     (unlock that Hold), or an owner with this client's id that it never
//     handed out.
//   - ErrUncertain: no answer came in time, or an earlier unlock of this owner
//     may still run, see Hold.Unlock.
//   - ErrClosed: the client is closed.
//   - ErrUnavailable: nothing ran, and nothing of it is sent later. An earlier
//     command of the owner is still pending, or no server can be reached or runs it.
//   - ErrRefused, ErrUnannounced and ErrUnreplicated: see Hold.Unlock.
func (l *Lock) UnlockAs(ctx context.Context, owner Owner) error {
	if err := l.unusableIn(ctx); err != nil {
		return err
	}
	err := owner.check()
	if err == nil {
		err = locks.UnlockAs(ctx, &l.l, owner.o)
	}
	return wrap("release", l.Name(), err)
}

// ForceUnlock deletes the lock, whoever holds it, and wakes the waiters of all processes. It
// returns true if it took the lock from somebody: if it ended a Hold of this client, or if
// there was a key to delete. Before it sends the command, it ends every Hold of the name in
// this client with ErrLeaseLost. A hold that is granted meanwhile ends too, if the command may
// have deleted its key. Holders in other clients notice it like any loss; see the package
// comment. With an error it returns false, even if it ended holds. The exception is a lock
// that it deleted but could not announce. It is Redisson's forceUnlock.
//
// ctx can end the wait only before holds are ended. After that the command must
// be sent, and ForceUnlock blocks until the server answers or a command timeout
// has passed, with WithReplicaSync a second longer.
//
//   - ErrRefused: the key is no hash, or it is the hash that Java keeps for the multi-lock of a
//     group of values. It is left alone.
//   - ErrUnannounced: the lock is free, but waiters could not be notified.
//   - ErrUncertain: the command was sent and not answered. It is not sent
//     again, because it could hit the next holder.
//   - ErrClosed: the client is closed.
//   - ErrUnavailable: the command could not be sent, and the key is left to its
//     lease. Holds that were ended stay ended.
func (l *Lock) ForceUnlock(ctx context.Context) (bool, error) { return l.force(ctx, "force") }

func (l *Lock) force(ctx context.Context, doing string) (bool, error) {
	if err := l.unusableIn(ctx); err != nil {
		return false, err
	}
	forced, err := locks.ForceUnlock(ctx, &l.l)
	return forced, wrap(doing, l.Name(), err)
}
