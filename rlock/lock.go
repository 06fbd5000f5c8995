package rlock

import (
	"context"
	"fmt"
	"time"
)

// Lock is Redisson's RLock: a re-entrant lock by name, held by an [Owner]. A
// handle is cheap, holds no state of its own, and is safe for concurrent use;
// two handles of one name are the same lock.
//
// Every acquisition without As gets an owner of its own, so two goroutines
// that share a handle exclude each other.
type Lock struct {
	c       *Client
	kind    *kind
	name    string
	key     any // the mapped name, boxed once for every command
	channel any // likewise
}

// Name is what NewLock was given.
func (l *Lock) Name() string { return l.name }

// mapped is the key.
func (l *Lock) mapped() string { return l.key.(string) }

// usable tells what is wrong with the name, if anything is.
func (l *Lock) usable() error {
	key := l.mapped()
	var err error
	switch {
	case l.name == "":
		err = fmt.Errorf("%w: it is empty", ErrInvalidName)
	case key == "":
		err = fmt.Errorf("%w: the NameMapper made it empty", ErrInvalidName)
	case len(key) > longestName:
		err = fmt.Errorf("%w: %d bytes; at most %d", ErrInvalidName, len(key), longestName)
	default:
		return nil
	}
	return wrap("use", l.name, err)
}

func (l *Lock) shard() *shard { return l.c.shard(l.mapped()) }

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
// earlier command of its owner was still open, gets an error that says so
// instead. ErrLeaseLost: the answer came when the lease
// was over; it is given back, and Do's fn did not run. ErrInvalidOption,
// ErrInvalidName: nothing was sent. Any other error is the server's, or says
// why it can't be reached. A wait that was once told that the lock is taken
// outlives restarts of the server.
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
// else it says what the attempt waited for. Its other errors are Lock's.
// With wait ≤ 0 it is TryLock. Redisson's tryLock(waitTime, unit).
func (l *Lock) TryLockFor(ctx context.Context, wait time.Duration, opts ...AcquireOption) (*Hold, error) {
	if wait <= 0 {
		return l.acquire(ctx, true, -1, opts)
	}
	return l.acquire(ctx, false, wait, opts)
}
