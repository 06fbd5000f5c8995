package rlock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Semaphore is Redisson's RSemaphore: a number of permits under one name, which nobody
// owns. A handle is cheap, has no state, and is safe for concurrent use. The calls of a
// zero Semaphore return ErrInvalidOption.
//
//   - There are no permits until TrySetPermits or AddPermits has set some.
//   - Permits have no lease. If a process dies, its permits are lost until somebody
//     releases or adds as many. A [PermitSemaphore] gets them back by itself.
//   - A release adds permits, even without an acquire.
//   - There is no fairness between clients. Within a client a small request waits
//     behind a large one.
//   - A call takes or gives at least 1 and at most 2,147,483,647 permits, Java's int.
//
// Shutdown does not wait for permits to be released. Courtesy does not apply.
type Semaphore struct{ object }

// NewSemaphore returns a handle for a semaphore whose permits have no lease: if your
// process may die with permits, take [Client.NewPermitSemaphore], whose permits come back.
// It is Redisson's getSemaphore(name). It does no I/O. Names follow NewLock's rules.
func (c *Client) NewSemaphore(name string) *Semaphore {
	return &Semaphore{object{*c.newLock(kind.Semaphore(1), name)}}
}

// Name is the name that was given to NewSemaphore.
func (s *Semaphore) Name() string { return s.lock.Name() }

// Acquire waits until it has taken n permits or ctx ends. With Wait it waits at most that
// long. After an error this call has taken nothing: the client gives back permits that are
// granted too late, or whose reply was lost. It is Redisson's acquire(permits).
//
//   - ctx's error: ctx ended. It is joined with the server's last error, if there was one.
//   - ErrNoPermits: the Wait is over, and too few permits are free.
//   - ErrClosed: the client was closed.
//   - ErrUncertain: the server did not answer for a command timeout. The client gives back
//     in the background what the attempt may have taken.
//   - ErrUnavailable: nothing was sent, or no server ran it for a command timeout.
//   - ErrRefused: the server's error, such as a key of another type.
//   - ErrUnreplicated: for a command timeout no replica acknowledged the grant.
//   - ErrInvalidOption, ErrInvalidName: nothing was sent.
//
// If nobody has set permits with TrySetPermits, it waits until somebody does. Its error then
// says so, whether Wait or ctx ended the wait.
func (s *Semaphore) Acquire(ctx context.Context, n int, opts ...WaitOption) error {
	return s.acquire(ctx, n, -1, opts)
}

// TryAcquire makes one attempt and does not wait: the error is ErrNoPermits if fewer than n
// permits are free. It blocks as [Lock.TryLock] does. Its other errors are Acquire's. It is
// Redisson's tryAcquire(permits).
func (s *Semaphore) TryAcquire(ctx context.Context, n int) error { return s.acquire(ctx, n, 0, nil) }

// TryAcquireFor waits at most for wait, or until ctx ends. ErrNoPermits: the wait is
// over, and the last answer was that too few are free. If the server never answered, it
// is ErrUncertain if an attempt was sent, else ErrUnavailable. Its other errors are
// Acquire's. It is Redisson's tryAcquire(permits, waitTime, unit).
func (s *Semaphore) TryAcquireFor(ctx context.Context, n int, wait time.Duration) error {
	return s.acquire(ctx, n, max(wait, 0), nil)
}

// acquire makes one attempt if wait is 0. If wait is below 0, ctx or the Wait option ends it.
func (s *Semaphore) acquire(ctx context.Context, n int, wait time.Duration, opts []WaitOption) error {
	if err := s.checkNumber("acquire", n, 1, math.MaxInt32); err != nil {
		return err
	}
	var t terms
	if err := setTerms(&t, wait, opts); err != nil {
		return s.failed("acquire", err)
	}
	t.Size = n
	return s.pass(ctx, "acquire", kind.Semaphore(n), t)
}

// Do acquires n permits as Acquire does, runs fn, and releases them when fn returns,
// panics or calls runtime.Goexit. fn's context is ctx itself, because permits have no
// lease to lose. With Wait it waits for the permits at most that long. The error joins
// fn's and the release's: ErrUncertain, ErrUnavailable, ErrRefused, ErrUnannounced,
// ErrUnreplicated or ErrClosed. If the acquire failed, fn did not run, and the error is
// Acquire's.
func (s *Semaphore) Do(ctx context.Context, n int, fn func(ctx context.Context) error, opts ...WaitOption) (err error) {
	if err := s.lock.checkFn(fn == nil); err != nil {
		return err
	}
	if err := s.Acquire(ctx, n, opts...); err != nil {
		return err
	}
	defer func() {
		// A plain Release would recreate a semaphore that expired or was deleted meanwhile.
		_, gerr := s.ReleaseIfExists(ctx, n)
		err = errors.Join(err, gerr)
	}()
	return fn(ctx)
}

// Release gives back n permits that any client has taken, or adds them if none has. It sends
// even if ctx is over. If the reply is lost, the client sends the command again, and it
// counts once. It blocks for at most four command timeouts and a second; once ctx is over,
// for at most one more command timeout. Then the client goes on in the background until it
// is closed, or until five minutes after the call (five command timeouts and a second, if
// that is longer). It is Redisson's release(permits).
//
//   - ErrUncertain: no answer came in time, the server met an error on the way, or the
//     semaphore was made anew before the command was sent again. It may have run, or may
//     yet run.
//   - ErrUnavailable: no server has run it so far. It may yet run.
//   - ErrRefused: the server's error, such as a key of another type.
//   - ErrUnannounced: the permits are back, but waiters could not be notified. A further
//     Release would add permits.
//   - ErrUnreplicated: it ran, but no replica acknowledged it.
//   - ErrClosed: the client is closed.
//   - ErrInvalidOption, ErrInvalidName: nothing was sent.
func (s *Semaphore) Release(ctx context.Context, n int) error {
	_, err := s.give(ctx, luasrc.GiveBack, n)
	return err
}

// ReleaseIfExists does what Release does if the semaphore exists, and reports whether
// it existed. Its errors are Release's. It is Redisson's releaseIfExists.
func (s *Semaphore) ReleaseIfExists(ctx context.Context, n int) (bool, error) {
	return s.give(ctx, luasrc.GiveExisting, n)
}

func (s *Semaphore) give(ctx context.Context, how string, n int) (bool, error) {
	const doing = "release permits of"
	if err := s.checkNumber(doing, n, 1, math.MaxInt32); err != nil {
		return false, err
	}
	return s.change(ctx, doing, true, changing(how, n, 0))
}

func changing(how string, n int, ttl time.Duration) func(*kind.Want) kind.Call {
	return func(w *kind.Want) kind.Call { return kind.ChangeSemaphore(w, how, n, ttl) }
}

// SetOption is a setting of one TrySetPermits. If one is given twice, the call returns
// ErrInvalidOption and sends nothing.
type SetOption func(*permitsTerms) error

// permitsTerms are the settings of one TrySetPermits.
type permitsTerms struct{ ttl time.Duration }

// Expire makes the server delete the semaphore d after TrySetPermits has set it, so that
// semaphores of short-lived things don't fill the server. d is at least 1 ms; fractions of
// a millisecond are dropped. Default is to keep it until Delete. It is the ttl of Redisson's
// trySetPermits.
func Expire(d time.Duration) SetOption {
	return func(t *permitsTerms) error { return setOnce(&t.ttl, "Expire", d) }
}

// expiry returns how long a semaphore is to exist, or 0 if it has no end.
func expiry(opts []SetOption) (time.Duration, error) {
	var t permitsTerms
	for _, o := range opts {
		if o == nil {
			return 0, fmt.Errorf("%w: a nil SetOption", ErrInvalidOption)
		}
		if err := o(&t); err != nil {
			return 0, err
		}
	}
	return t.ttl, nil
}

// TrySetPermits sets the number of permits, at least 0, if the semaphore does not exist,
// and reports whether it did. With [Expire] the semaphore is deleted after that time; a
// later Release makes a new one, which never expires. It sends and blocks as AddPermits
// does, with its errors. It is Redisson's trySetPermits.
func (s *Semaphore) TrySetPermits(ctx context.Context, n int, opts ...SetOption) (bool, error) {
	const doing = "set the permits of"
	ttl, err := expiry(opts)
	if err != nil {
		return false, s.failed(doing, err)
	}
	if err := s.checkNumber(doing, n, 0, math.MaxInt32); err != nil {
		return false, err
	}
	return s.change(ctx, doing, false, changing(luasrc.SetFirst, n, ttl))
}

// AddPermits adds delta permits. If delta is below 0, it removes permits for good, and the
// number of free ones may fall below 0. Afterwards the semaphore never expires.
//
// If the reply is lost, the client sends the command again, and it counts once. While ctx
// lasts it blocks for at most four command timeouts and a second. If ctx ends before the
// command was sent, it returns ctx's error and changes nothing; if later, it blocks for at
// most one more command timeout. It is Redisson's addPermits.
//
//   - ErrUncertain: no answer came in time. It may have run, or may yet run.
//   - ErrUnavailable: no server ran it for a command timeout.
//   - ErrRefused: the server's error, such as a key of another type.
//   - ErrUnannounced: the permits are added, but waiters could not be notified. A further
//     AddPermits would add them again.
//   - ErrUnreplicated: it ran, but no replica acknowledged it.
//   - ErrClosed: the client is closed.
//   - ErrInvalidOption, ErrInvalidName: nothing was sent.
func (s *Semaphore) AddPermits(ctx context.Context, delta int) error {
	const doing = "add permits to"
	if err := s.checkNumber(doing, delta, -math.MaxInt32, math.MaxInt32); err != nil {
		return err
	}
	_, err := s.change(ctx, doing, false, changing(luasrc.AddMore, delta, 0))
	return err
}

// Available returns how many permits are free. A number below 0 says how many are missing.
// It blocks for at most a command timeout. Its errors are [Lock.IsLocked]'s. It is
// Redisson's availablePermits.
func (s *Semaphore) Available(ctx context.Context) (int, error) {
	n, err := s.number(ctx)
	return int(n), err
}

// Drain takes all free permits, and returns how many they were. A number below 0 says how
// many were missing. Afterwards the number is 0, and the semaphore never expires. It sends
// and blocks as AddPermits does, with its errors. It is Redisson's drainPermits.
func (s *Semaphore) Drain(ctx context.Context) (int, error) {
	reply, err := s.send(ctx, false, changing(luasrc.DrainAll, 0, 0))
	n, err := decoded(&s.object, "drain", reply, err, luasrc.DecodeNumber)
	return int(n), err
}

// Delete deletes the semaphore, and reports whether there was one. It wakes no waiters, like
// Redisson's delete. It sends and blocks as AddPermits does, with its errors.
func (s *Semaphore) Delete(ctx context.Context) (bool, error) {
	return s.change(ctx, "delete", false, changing(luasrc.DeleteAll, 0, 0))
}
