package rlock

import (
	"context"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/locks"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// CountDownLatch is Redisson's RCountDownLatch: a count under one name, and waiters that
// wait until it is 0. Without a count it is open. A handle is cheap, has no state, and is
// safe for concurrent use. The calls of a zero CountDownLatch return ErrInvalidOption.
//
//   - A message wakes the waiters. In case it is lost, a client with waiters also reads the
//     count each second, once for all of them.
//   - If the count is set again right after the latch opened, waiters may miss that it was
//     open.
//   - In a cluster the name must not contain braces, as in Java.
type CountDownLatch struct{ object }

// NewCountDownLatch returns a handle for the latch with this name, Redisson's
// getCountDownLatch(name). It does no I/O. Names follow NewLock's rules.
func (c *Client) NewCountDownLatch(name string) *CountDownLatch {
	return &CountDownLatch{object{*c.newLock(kind.CountDownLatch, name)}}
}

// Name is the name that was given to NewCountDownLatch.
func (l *CountDownLatch) Name() string { return l.lock.Name() }

// TrySetCount sets the count, at least 1, if the latch is open, and reports whether it
// did. It sends and blocks as [PermitSemaphore.SetPermits] does, with its errors. It is
// Redisson's trySetCount.
func (l *CountDownLatch) TrySetCount(ctx context.Context, n int64) (bool, error) {
	const doing = "set the count of"
	if n < 1 {
		return false, l.failed(doing, fmt.Errorf("%w: a count of %d; at least 1", ErrInvalidOption, n))
	}
	return l.set(ctx, doing, false, luasrc.SetCount, n)
}

// CountDown lowers the count by 1, and opens the latch when that makes it 0. It changes
// nothing if the latch is open. It sends and blocks as [Semaphore.Release] does, with its
// errors. It is Redisson's countDown.
func (l *CountDownLatch) CountDown(ctx context.Context) error {
	_, err := l.set(ctx, "count down", true, luasrc.DownByOne, 0)
	return err
}

// Delete opens the latch whatever its count is, and reports whether it had one. It wakes
// waiters in Go; Java's wait until they look again, as after Redisson's delete. It sends
// and blocks as TrySetCount does, with its errors.
func (l *CountDownLatch) Delete(ctx context.Context) (bool, error) {
	return l.set(ctx, "delete", false, luasrc.DeleteCount, 0)
}

func (l *CountDownLatch) set(ctx context.Context, doing string, due bool, how string, n int64) (bool, error) {
	return l.change(ctx, doing, due, func(w *kind.Want) kind.Call { return kind.CountDown(w, how, n) })
}

// Await waits until the latch is open or ctx ends. A latch whose count nobody has set is open, so
// it returns at once. It is Redisson's await.
//
//   - ctx's error: ctx ended. It is joined with the server's last error, if there was one.
//   - ErrClosed: the client was closed.
//   - ErrUncertain: the server did not answer for a command timeout.
//   - ErrUnavailable: nothing was sent, or no server answered for a command timeout.
//   - ErrRefused: the server's error, such as a key of another type.
//   - ErrInvalidOption, ErrInvalidName: nothing was sent.
func (l *CountDownLatch) Await(ctx context.Context) error {
	return l.pass(ctx, "await", kind.CountDownLatch, locks.Terms{})
}

// AwaitFor waits at most for wait, or until ctx ends. ErrNotOpen: the wait is over, and the
// last answer was that the latch has a count. If the server never answered, it is ErrUncertain
// if a read was sent, else ErrUnavailable. Its other errors are Await's. With wait ≤ 0 it
// reads the count once. It is Redisson's await(time, unit).
func (l *CountDownLatch) AwaitFor(ctx context.Context, wait time.Duration) error {
	return l.pass(ctx, "await", kind.CountDownLatch, locks.Terms{Wait: max(wait, 0), HasWait: true})
}

// Count returns the count, 0 if the latch is open. It blocks like [Lock.IsLocked], with its
// errors. It is Redisson's getCount.
func (l *CountDownLatch) Count(ctx context.Context) (int64, error) { return l.number(ctx) }
