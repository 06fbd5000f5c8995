package rlock

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/locks"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// PermitSemaphore is Redisson's RPermitExpirableSemaphore: a number of permits under one
// name, each with its own id and lease. A handle is cheap, has no state, and is safe for
// concurrent use. The calls of a zero PermitSemaphore return ErrInvalidOption.
//
//   - There are no permits until TrySetPermits, SetPermits or AddPermits has set some.
//   - Without Lease the watchdog renews permits until Release. If their process dies, they
//     are free when the lease ends. Java's acquire without a lease takes a permit for ever.
//   - There is no fairness between clients. Within a client a small request waits
//     behind a large one.
//   - Go ends a lease by the server's clock, Java by each client's. A Java client whose
//     clock is ahead ends leases early.
//   - An acquire takes all of its permits or none, at most 5,000.
//   - If the semaphore's own key expires, as by Java's expire, all its permits are lost.
//
// Courtesy does not apply to it.
type PermitSemaphore struct{ object }

// NewPermitSemaphore returns a handle for the semaphore with this name, Redisson's
// getPermitExpirableSemaphore(name). It does no I/O. Names follow NewLock's rules.
func (c *Client) NewPermitSemaphore(name string) *PermitSemaphore {
	return &PermitSemaphore{object{*c.newLock(kind.Permits(1), name)}}
}

// mostPermits bounds one acquire. Its scripts and renewals take some 3 µs for each permit,
// and the server runs nothing else meanwhile.
const mostPermits = 5_000

// Name is the name that was given to NewPermitSemaphore.
func (s *PermitSemaphore) Name() string { return s.lock.Name() }

// Acquire waits until it has taken n permits, 1 to 5,000, or ctx ends. With Wait it waits at
// most that long. After an error this call holds nothing: the client gives back permits that
// are granted too late. It is Redisson's acquire.
//
//   - ctx's error: ctx ended. It is joined with the server's last error, if there was one.
//   - ErrNoPermits: the Wait is over, and too few permits are free.
//   - ErrClosed: the client was closed.
//   - ErrUncertain: the server did not answer for a command timeout. The client gives back
//     in the background what the attempt may have taken.
//   - ErrUnavailable: nothing was sent, or no server ran it for a command timeout.
//   - ErrLeaseLost: the answer came after the lease was over. The client gives back the
//     permits.
//   - ErrRefused: the server's error, such as a key of another type.
//   - ErrUnreplicated: for a command timeout no replica acknowledged the grant.
//   - ErrInvalidOption, ErrInvalidName: nothing was sent.
//
// If nobody has set permits with TrySetPermits, it waits until somebody does. Its error then says
// so, whether Wait or ctx ended the wait. If there are fewer than n, it waits too. When the Wait is
// over, it asks the server once more, so that its error can say how many there are.
func (s *PermitSemaphore) Acquire(ctx context.Context, n int, opts ...PermitOption) (*Permits, error) {
	return s.acquire(ctx, n, -1, opts)
}

// TryAcquire makes one attempt and does not wait: the error is ErrNoPermits if fewer than n
// permits are free. It blocks as [Lock.TryLock] does. Wait is ErrInvalidOption. Its other errors
// are Acquire's. It is Redisson's tryAcquire.
func (s *PermitSemaphore) TryAcquire(ctx context.Context, n int, opts ...PermitOption) (*Permits, error) {
	return s.acquire(ctx, n, 0, opts)
}

// TryAcquireFor waits at most for wait, or until ctx ends. ErrNoPermits: the wait is over,
// and the last answer was that too few are free. If the server never answered, it is
// ErrUncertain if an attempt was sent, else ErrUnavailable. Its other errors are
// Acquire's. It is Redisson's tryAcquire(waitTime, unit).
func (s *PermitSemaphore) TryAcquireFor(ctx context.Context, n int, wait time.Duration, opts ...PermitOption) (*Permits, error) {
	return s.acquire(ctx, n, max(wait, 0), opts)
}

// Do runs fn while it holds n permits, as [Lock.Do] runs it while it holds the lock. The
// error joins fn's, ErrLeaseLost if permits were lost before fn returned, and the
// release's, see [Permits.Release]. If the acquire failed, fn did not run, and the error
// is Acquire's.
func (s *PermitSemaphore) Do(ctx context.Context, n int, fn func(ctx context.Context) error, opts ...PermitOption) error {
	l, all, err := s.taking(n, opts)
	if err != nil {
		return err
	}
	return l.Do(ctx, fn, all...)
}

func (s *PermitSemaphore) acquire(ctx context.Context, n int, wait time.Duration, opts []PermitOption) (*Permits, error) {
	l, all, err := s.taking(n, opts)
	if err != nil {
		return nil, err
	}
	h, err := l.acquire(ctx, wait, all)
	if err != nil {
		return nil, err
	}
	return &Permits{h: h, n: n}, nil
}

// taking returns a lock that takes n permits, and the options of its acquires.
func (s *PermitSemaphore) taking(n int, opts []PermitOption) (*Lock, []AcquireOption, error) {
	if err := s.checkNumber("acquire", n, 1, mostPermits); err != nil {
		return nil, nil, err
	}
	l := &s.lock
	if n > 1 {
		l = &Lock{l: l.l.Of(kind.Permits(n))}
	}
	all := make([]AcquireOption, 0, len(opts)+1)
	for _, o := range opts {
		all = append(all, o)
	}
	return l, append(all, acquireOption(func(t *terms) error { t.Size = n; return nil })), nil
}

// ReleaseIDs releases permits by their ids, such as those of another process or of Java. It
// releases all of them or, if one is no longer taken, none. It releases a single permit even
// if its lease is over. It sends and blocks as [Semaphore.Release] does. It is Redisson's
// release and tryRelease.
//
//   - ErrNotHeld: one of them is no longer taken.
//   - ErrInvalidOption: there is no id, one is not 32 hex digits or is given twice, or one
//     belongs to [Permits] of this client: release those.
//   - ErrUncertain: no answer came in time, the server met an error on the way, or the
//     semaphore was made anew before the command was sent again. It may have run, or may
//     yet run.
//   - ErrUnavailable: no server has run it so far. It may yet run.
//   - ErrRefused: the server's error, such as a key of another type.
//   - ErrUnannounced: the permits are back, but waiters could not be notified.
//   - ErrUnreplicated: it ran, but no replica acknowledged it.
//   - ErrClosed: the client is closed.
func (s *PermitSemaphore) ReleaseIDs(ctx context.Context, ids ...string) error {
	const doing = "release permits of"
	raw, err := s.rawIDs(ids)
	if err != nil {
		return s.failed(doing, err)
	}
	done, err := s.change(ctx, doing, true, func(w *kind.Want) kind.Call { return kind.ReleasePermits(w, raw) })
	if err == nil && !done {
		err = s.failed(doing, locks.NotHeld("a permit with one of these ids is not taken"))
	}
	return err
}

// rawID reads the id of a permit.
func rawID(id string) (string, error) {
	bytes, err := hex.DecodeString(id)
	if err != nil || len(bytes) != 16 {
		return "", fmt.Errorf("%w: %s is no id of a permit, which is 32 hex digits", ErrInvalidOption, locks.Quote(id))
	}
	return string(bytes), nil
}

// rawIDs reads the ids of permits, and refuses those of this client's Permits.
func (s *PermitSemaphore) rawIDs(ids []string) ([]string, error) {
	if err := s.lock.unusable(); err != nil {
		return nil, err
	}
	if len(ids) < 1 || len(ids) > mostPermits {
		return nil, fmt.Errorf("%w: %d ids; at least 1 and at most %d", ErrInvalidOption, len(ids), mostPermits)
	}
	raw, seen := make([]string, len(ids)), make(map[string]bool, len(ids))
	for i, id := range ids {
		var err error
		if raw[i], err = rawID(id); err != nil {
			return nil, err
		}
		if seen[raw[i]] {
			return nil, fmt.Errorf("%w: id %s given twice", ErrInvalidOption, id)
		}
		seen[raw[i]] = true
	}
	if s.lock.l.AnyHeld(func(h kind.Held) bool { return kind.HasPermit(h, seen) }) {
		return nil, fmt.Errorf("%w: an id belongs to Permits of this client; use their methods", ErrInvalidOption)
	}
	return raw, nil
}

// SetLease gives the permit with this id a lease of d from now, longer or shorter than the
// present one. d is at least 1 ms. It blocks as SetPermits does. ErrNotHeld: the permit is
// not taken. ErrInvalidOption: the id belongs to [Permits] of this client, or d is too short.
// Its other errors are SetPermits'. It is Redisson's updateLeaseTime.
func (s *PermitSemaphore) SetLease(ctx context.Context, id string, d time.Duration) error {
	raw, err := s.rawIDs([]string{id})
	if err == nil {
		err = checkLease(d)
	}
	var reply any
	if err == nil {
		reply, err = s.send(ctx, false, func(w *kind.Want) kind.Call { return kind.LeasePermit(w, raw[0], d.Milliseconds()) })
	}
	_, err = decoded(&s.object, "extend a permit of", reply, err, leaseLeft)
	return err
}

// LeaseOf returns how long the permit with this id stays taken without another renewal, or
// NoExpiry. ErrNotHeld: the permit is not taken. It blocks for at most a command timeout.
// Its other errors are [Lock.IsLocked]'s. It is Redisson's getLeaseTime.
func (s *PermitSemaphore) LeaseOf(ctx context.Context, id string) (time.Duration, error) {
	const doing = "ask about a permit of"
	raw, err := rawID(id)
	if err != nil {
		return 0, s.failed(doing, err)
	}
	reply, err := s.ask(ctx, func(w *kind.Want) kind.Call { return kind.PermitLeft(w, raw) })
	return decoded(&s.object, doing, reply, err, leaseLeft)
}

func leaseLeft(reply any) (time.Duration, error) {
	left, taken, err := luasrc.DecodePermitLeft(reply)
	if err == nil && !taken {
		err = locks.NotHeld("no permit with this id is taken")
	}
	return left, err
}

// TrySetPermits sets the number of permits if none was set before, and reports whether it
// did. The number is at least 0 and at most 2,147,483,647, Java's int. With [Expire] the
// semaphore and all its permits are deleted after that time; a later Release makes a new
// one, which never expires. It sends and blocks as SetPermits does, with its errors. It is
// Redisson's trySetPermits, and with Expire also its expire.
func (s *PermitSemaphore) TrySetPermits(ctx context.Context, n int, opts ...SetOption) (bool, error) {
	ttl, err := expiry(opts)
	if err != nil {
		return false, s.failed("set the permits of", err)
	}
	return s.set(ctx, luasrc.FirstPermits, n, ttl)
}

// SetPermits sets the number of all permits, including the taken ones, to n, within
// TrySetPermits' bounds. If more are taken, the number of free ones is below 0 until enough
// have come back.
//
// If the reply is lost, the client sends the command again, and it counts once. While ctx
// lasts it blocks for at most four command timeouts and a second. If ctx ends before the
// command was sent, it returns ctx's error and changes nothing; if later, it blocks for at
// most one more command timeout. It is Redisson's setPermits.
//
//   - ErrUncertain: no answer came in time, the server met an error on the way, or the
//     semaphore was made anew before the command was sent again. It may have run, or may
//     yet run.
//   - ErrUnavailable: no server ran it for a command timeout.
//   - ErrRefused: the server's error, such as a key of another type.
//   - ErrUnannounced: the number is set, but waiters could not be notified.
//   - ErrUnreplicated: it ran, but no replica acknowledged it.
//   - ErrClosed: the client is closed.
//   - ErrInvalidOption, ErrInvalidName: nothing was sent.
func (s *PermitSemaphore) SetPermits(ctx context.Context, n int) error {
	_, err := s.set(ctx, luasrc.TotalPermits, n, 0)
	return err
}

// AddPermits adds n permits. n is at most 2,147,483,647, Java's int. If n is below 0, it
// removes permits for good, and the number of free ones may fall below 0. It sends and
// blocks as SetPermits does, with its errors. It is Redisson's addPermits.
func (s *PermitSemaphore) AddPermits(ctx context.Context, n int) error {
	_, err := s.set(ctx, luasrc.MorePermits, n, 0)
	return err
}

func (s *PermitSemaphore) set(ctx context.Context, how string, n int, ttl time.Duration) (bool, error) {
	const doing = "set the permits of"
	least := 0
	if how == luasrc.MorePermits {
		least = -math.MaxInt32
	}
	if err := s.checkNumber(doing, n, least, math.MaxInt32); err != nil {
		return false, err
	}
	return s.change(ctx, doing, false, func(w *kind.Want) kind.Call { return kind.SetPermits(w, how, n, ttl) })
}

// count returns how many permits are free and how many are taken.
func (s *PermitSemaphore) count(ctx context.Context) (free, taken int, err error) {
	reply, err := s.ask(ctx, kind.CountPermits)
	var f, t int64
	if err == nil {
		f, t, err = luasrc.DecodePermitCount(reply)
	}
	return int(f), int(t), s.failed("ask about", err)
}

// tooFew asks the server how many permits there are. It returns an error that says so if these can
// never be n, or else err, which says that too few are free. The wait is over, so the question takes
// no longer than any call may take beyond its bound.
func (l *Lock) tooFew(ctx context.Context, n int, err error) error {
	ctx, cancel := context.WithTimeout(ctx, l.l.Client.Timeout/16)
	defer cancel()
	reply, asked := l.l.Read(ctx, kind.CountPermits)
	if asked != nil {
		return err
	}
	free, taken, asked := luasrc.DecodePermitCount(reply)
	if total := free + taken; asked == nil && 0 < total && total < int64(n) {
		err = fmt.Errorf("%w: %d are wanted, and there are only %d", err, n, total)
	}
	return err
}

// Available returns how many permits are free, including those whose lease is over. A
// number below 0 says how many more are taken than there are. It blocks for at most a
// command timeout. Its errors are [Lock.IsLocked]'s. It is Redisson's
// availablePermits.
func (s *PermitSemaphore) Available(ctx context.Context) (int, error) {
	free, _, err := s.count(ctx)
	return free, err
}

// Acquired returns how many permits all clients have taken. It blocks as Available does,
// with its errors. It is Redisson's acquiredPermits.
func (s *PermitSemaphore) Acquired(ctx context.Context) (int, error) {
	_, taken, err := s.count(ctx)
	return taken, err
}

// Total returns how many permits there are, free or taken. It blocks as Available does,
// with its errors. It is Redisson's getPermits.
func (s *PermitSemaphore) Total(ctx context.Context) (int, error) {
	free, taken, err := s.count(ctx)
	return free + taken, err
}

// Delete deletes the semaphore with all its permits. It reports whether it deleted a
// semaphore or ended Permits of this client, which end with ErrLeaseLost before the command
// is sent. Holders in other clients notice it like any loss, see the package comment. It
// wakes no waiters, like Redisson's delete. ctx can end the wait only before Permits are ended.
// After that it blocks until the server answers or a command timeout has passed.
//
//   - ctx's error: nothing was sent.
//   - ErrUncertain: the command was sent and not answered. It is not sent again.
//   - ErrUnavailable: it could not be sent. Permits that were ended stay ended.
//   - ErrRefused: the server's error, such as a key of another type.
//   - ErrClosed: the client is closed.
//   - ErrInvalidName: nothing was sent.
func (s *PermitSemaphore) Delete(ctx context.Context) (bool, error) {
	return s.lock.force(ctx, "delete")
}
