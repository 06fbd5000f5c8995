package rlock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockstate"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Semaphore is Redisson's RSemaphore: a number of permits under one name, which nobody
// owns. A handle is cheap, holds no state of its own, and is safe for concurrent use.
// The calls of a zero Semaphore return ErrInvalidOption.
//
//   - There are no permits until TrySetPermits or AddPermits has set some.
//   - Permits have no lease. Those of a process that dies are lost until somebody
//     releases or adds as many: a [PermitSemaphore] gets them back by itself.
//   - Whoever releases adds permits, also without an acquire.
//   - Who comes first is not served first. Within a client there is one queue, in which
//     one who wants fewer permits is tried behind one who wants more.
//   - A call takes and gives at least 1 and at most 2,147,483,647 permits, Java's int.
//
// Shutdown does not wait for releases, and courtesy does not apply to it.
type Semaphore struct{ object }

// NewSemaphore returns a handle for the semaphore with this name, Redisson's
// getSemaphore(name). It does no I/O. Names are as NewLock's.
func (c *Client) NewSemaphore(name string) *Semaphore {
	return &Semaphore{object{*c.newLock(kind.Semaphore(1), name)}}
}

// Name is the name that was given to NewSemaphore.
func (s *Semaphore) Name() string { return s.lock.Name() }

// Acquire waits until it has taken n permits or ctx ends. After an error this call has
// taken nothing: permits that come at the last moment are given back, and so are those of
// a reply that was lost. Its errors are [Lock.Lock]'s. It is Redisson's acquire(permits).
func (s *Semaphore) Acquire(ctx context.Context, n int) error {
	return s.acquire(ctx, n, lockstate.Terms{})
}

// TryAcquire makes one attempt and does not wait: the error is ErrNoPermits if fewer
// than n permits are free. Its other errors are Acquire's. It is Redisson's
// tryAcquire(permits).
func (s *Semaphore) TryAcquire(ctx context.Context, n int) error { return s.TryAcquireFor(ctx, n, 0) }

// TryAcquireFor waits at most for wait, or until ctx ends. ErrNoPermits: the wait is
// over, and the last answer was that too few are free. Everything else is as
// [Lock.TryLockFor] has it. It is Redisson's tryAcquire(permits, waitTime, unit).
func (s *Semaphore) TryAcquireFor(ctx context.Context, n int, wait time.Duration) error {
	return s.acquire(ctx, n, lockstate.Terms{Wait: max(wait, 0), HasWait: true})
}

func (s *Semaphore) acquire(ctx context.Context, n int, t lockstate.Terms) error {
	if err := s.checkNumber("acquire", n, math.MaxInt32); err != nil {
		return err
	}
	t.Size = n
	return s.pass(ctx, "acquire", kind.Semaphore(n), t)
}

// Do runs fn with n permits, which it acquires as Acquire does, and releases when fn
// returns, panics or calls runtime.Goexit. fn's context is ctx: permits don't get lost while their
// holder lives. The error joins fn's and the release's. If the acquire failed, fn did
// not run, and the error is the acquire's.
func (s *Semaphore) Do(ctx context.Context, n int, fn func(ctx context.Context) error) (err error) {
	if err := s.Acquire(ctx, n); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Release(ctx, n)) }()
	return fn(ctx)
}

// Release gives n permits back, whoever took them, or adds them if nobody did. It is
// sent even if ctx is over, and sent again after a lost reply, and counts once. It blocks
// for at most four command timeouts and a second, and once ctx is over for at most one
// more command timeout. It is Redisson's release(permits).
//
//   - ErrUncertain: no answer came in time. It may have run, or may yet run.
//   - ErrUnavailable: no server ran it for a command timeout.
//   - ErrRefused: the server's error, such as a key of another type.
//   - ErrUnreplicated: it ran, but no replica confirmed it.
//   - ErrClosed: the client is closed.
//   - ErrInvalidOption, ErrInvalidName: nothing was sent.
func (s *Semaphore) Release(ctx context.Context, n int) error {
	_, err := s.give(ctx, luasrc.GiveBack, n)
	return err
}

// ReleaseIfExists is Release if the semaphore exists, and reports whether it did. Errors
// are Release's. It is Redisson's releaseIfExists.
func (s *Semaphore) ReleaseIfExists(ctx context.Context, n int) (bool, error) {
	return s.give(ctx, luasrc.GiveExisting, n)
}

func (s *Semaphore) give(ctx context.Context, how string, n int) (bool, error) {
	const doing = "release permits of"
	if err := s.checkNumber(doing, n, math.MaxInt32); err != nil {
		return false, err
	}
	reply, err := s.lock.l.Change(ctx, true, changing(how, n, 0))
	return decoded(&s.object, doing, reply, err, codec.DecodeExists)
}

func changing(how string, n int, ttl Expire) func(*kind.Want) kind.Call {
	return func(w *kind.Want) kind.Call { return kind.ChangeSemaphore(w, how, n, time.Duration(ttl)) }
}

// Expire is how long a semaphore exists that TrySetPermits sets. It is at least 1 ms;
// fractions of a millisecond are dropped. Default is for ever.
type Expire time.Duration

// TrySetPermits sets the number of permits, at least 0, if the semaphore does not exist,
// and reports whether it did. With an [Expire] the semaphore is gone after that; a
// Release then makes one that has no end. Its errors are AddPermits'. It is
// Redisson's trySetPermits.
func (s *Semaphore) TrySetPermits(ctx context.Context, n int, expire ...Expire) (bool, error) {
	const doing = "set the permits of"
	var ttl Expire
	switch {
	case len(expire) > 1:
		return false, s.failed(doing, fmt.Errorf("%w: Expire given twice", ErrInvalidOption))
	case len(expire) == 1:
		if ttl = expire[0]; time.Duration(ttl) < time.Millisecond {
			return false, s.failed(doing, fmt.Errorf("%w: Expire of %v; at least 1ms", ErrInvalidOption, time.Duration(ttl)))
		}
	}
	if n < 0 || n > math.MaxInt32 {
		return false, s.failed(doing, fmt.Errorf("%w: %d permits; at least 0 and at most %d", ErrInvalidOption, n, math.MaxInt32))
	}
	return s.change(ctx, doing, changing(luasrc.SetFirst, n, ttl))
}

// AddPermits adds delta permits or, if it is below 0, takes as many away for good: the
// number of free ones may be below 0 then. It ends what Expire has set. It is sent as
// [PermitSemaphore.SetPermits] is, with its errors. It is Redisson's addPermits.
func (s *Semaphore) AddPermits(ctx context.Context, delta int) error {
	const doing = "add permits to"
	if delta < -math.MaxInt32 || delta > math.MaxInt32 {
		return s.failed(doing, fmt.Errorf("%w: %d permits; at most %d", ErrInvalidOption, delta, math.MaxInt32))
	}
	_, err := s.change(ctx, doing, changing(luasrc.AddMore, delta, 0))
	return err
}

// Available returns how many permits are free; below 0, so many are missing. It blocks
// like [Lock.IsLocked]. It is Redisson's availablePermits.
func (s *Semaphore) Available(ctx context.Context) (int, error) {
	n, err := s.number(ctx)
	return int(n), err
}

// Drain takes all free permits, and returns how many they were; below 0, so many were
// missing, and none is now. It ends what Expire has set. Errors are AddPermits'. It is
// Redisson's drainPermits.
func (s *Semaphore) Drain(ctx context.Context) (int, error) {
	reply, err := s.send(ctx, changing(luasrc.DrainAll, 0, 0))
	n, err := decoded(&s.object, "drain", reply, err, codec.DecodeNumber)
	return int(n), err
}

// Delete deletes the semaphore, and reports whether there was one. Who waits is told
// nothing, as in Redisson's delete. Errors are AddPermits'.
func (s *Semaphore) Delete(ctx context.Context) (bool, error) {
	return s.change(ctx, "delete", changing(luasrc.DeleteAll, 0, 0))
}
