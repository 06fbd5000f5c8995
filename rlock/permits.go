package rlock

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockstate"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// PermitSemaphore is Redisson's RPermitExpirableSemaphore: a number of permits under
// one name, each with an id of its own and a lease. A handle is cheap, holds no state
// of its own, and is safe for concurrent use. The calls of a zero PermitSemaphore return
// ErrInvalidOption.
//
//   - There are no permits until TrySetPermits, SetPermits or AddPermits has set some.
//   - Without Lease, permits are kept by the watchdog until Release, which Redisson's
//     are not: those of a process that died come back with their lease. Java's acquire
//     without a lease takes a permit for ever.
//   - Who comes first is not served first. Within a client there is one queue, in which
//     one who wants fewer permits is tried behind one who wants more.
//   - A lease ends by the clock of the server here, and by that of each client in
//     Java: a Java client whose clock is ahead takes permits away early.
//   - An acquire takes all of its permits or none, at most 65,536.
//   - If the semaphore's own key expires, as by Java's expire, all permits go with it.
//   - Permits have no owner to be shared, and no bound by MaxHold: As and MaxHold are
//     ErrInvalidOption.
//
// Courtesy does not apply to it.
type PermitSemaphore struct{ object }

// NewPermitSemaphore returns a handle for the semaphore with this name, Redisson's
// getPermitExpirableSemaphore(name). It does no I/O. Names are as NewLock's.
func (c *Client) NewPermitSemaphore(name string) *PermitSemaphore {
	return &PermitSemaphore{object{*c.newLock(kind.Permits(1), name)}}
}

// mostPermits bounds one acquire: its script runs alone on the server.
const mostPermits = 1 << 16

// Name is the name that was given to NewPermitSemaphore.
func (s *PermitSemaphore) Name() string { return s.lock.Name() }

// Acquire waits until it has taken n permits or ctx ends. With Wait it waits at most
// that long, and then fails as TryAcquireFor does. After an error this call holds
// nothing. n below 1 or above 65,536 is ErrInvalidOption. Its other errors are
// [Lock.Lock]'s. It is Redisson's acquire.
func (s *PermitSemaphore) Acquire(ctx context.Context, n int, opts ...AcquireOption) (*Permits, error) {
	return s.acquire(ctx, n, -1, opts)
}

// TryAcquire makes one attempt and does not wait: the error is ErrNoPermits if fewer
// than n permits are free. Its other errors are Acquire's. Wait is ErrInvalidOption. It is
// Redisson's tryAcquire.
func (s *PermitSemaphore) TryAcquire(ctx context.Context, n int, opts ...AcquireOption) (*Permits, error) {
	return s.acquire(ctx, n, 0, opts)
}

// TryAcquireFor waits at most for wait, or until ctx ends. ErrNoPermits: the wait is
// over, and the last answer was that too few are free. Everything else is as
// [Lock.TryLockFor] has it. It is Redisson's tryAcquire(waitTime, unit).
func (s *PermitSemaphore) TryAcquireFor(ctx context.Context, n int, wait time.Duration, opts ...AcquireOption) (*Permits, error) {
	return s.acquire(ctx, n, max(wait, 0), opts)
}

// Do runs fn while it holds n permits, as [Lock.Do] runs it while it holds the lock.
func (s *PermitSemaphore) Do(ctx context.Context, n int, fn func(ctx context.Context) error, opts ...AcquireOption) error {
	l, opts, err := s.taking(n, opts)
	if err != nil {
		return err
	}
	return l.Do(ctx, fn, opts...)
}

func (s *PermitSemaphore) acquire(ctx context.Context, n int, wait time.Duration, opts []AcquireOption) (*Permits, error) {
	l, opts, err := s.taking(n, opts)
	if err != nil {
		return nil, err
	}
	h, err := l.acquire(ctx, wait, opts)
	if err != nil {
		return nil, err
	}
	return &Permits{h: h, n: n}, nil
}

// taking is the semaphore as what takes n permits, and the options that are checked
// for them.
func (s *PermitSemaphore) taking(n int, opts []AcquireOption) (*Lock, []AcquireOption, error) {
	if err := s.checkNumber("acquire", n, mostPermits); err != nil {
		return nil, nil, err
	}
	l := &s.lock
	if n > 1 {
		l = &Lock{l: l.l.Of(kind.Permits(n))}
	}
	return l, append(slices.Clip(opts), func(t *terms) error {
		if t.Size = n; t.As || t.MaxHold > 0 {
			return fmt.Errorf("%w: As and MaxHold are not for permits", ErrInvalidOption)
		}
		return nil
	}), nil
}

// ReleaseIDs gives up permits by their ids, whoever took them: those of another process,
// or of Java. It gives up all of them or, if one is not taken any more, none; a single one
// whose lease is over comes back all the same. It is sent as Unlock is, and a lost reply
// is found out. It is Redisson's release and tryRelease.
//
//   - ErrNotHeld: one of them is not taken any more.
//   - ErrInvalidOption: no id, one that is not 32 hex digits or is given twice, or one of
//     a [Permits] of this client: release that.
//   - ErrUncertain, ErrClosed, ErrUnavailable, ErrRefused, ErrUnreplicated: see
//     [PermitSemaphore.SetPermits].
func (s *PermitSemaphore) ReleaseIDs(ctx context.Context, ids ...string) error {
	const doing = "release permits of"
	raw, err := s.rawIDs(ids)
	if err != nil {
		return s.failed(doing, err)
	}
	done, err := s.change(ctx, doing, func(w *kind.Want) kind.Call { return kind.ReleasePermits(w, raw) })
	if err == nil && !done {
		err = s.failed(doing, fmt.Errorf("%w: a permit with one of these ids", ErrNotHeld))
	}
	return err
}

// rawID reads the id of a permit.
func rawID(id string) (string, error) {
	bytes, err := hex.DecodeString(id)
	if err != nil || len(bytes) != 16 {
		return "", fmt.Errorf("%w: %s is no id of a permit, which is 32 hex digits", ErrInvalidOption, lockstate.Quote(id))
	}
	return string(bytes), nil
}

// rawIDs reads ids of permits that are not of this client's Permits.
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
		return nil, fmt.Errorf("%w: one of these ids is of a Permits in this client; use that", ErrInvalidOption)
	}
	return raw, nil
}

// SetLease gives the permit with this id a lease of d from now, longer or shorter than
// the present one. d is at least 1 ms. Errors are as ReleaseIDs' and Extend's. It is
// Redisson's updateLeaseTime.
func (s *PermitSemaphore) SetLease(ctx context.Context, id string, d time.Duration) error {
	raw, err := s.rawIDs([]string{id})
	if err == nil {
		err = checkLease(d)
	}
	var reply any
	if err == nil {
		reply, err = s.send(ctx, func(w *kind.Want) kind.Call { return kind.LeasePermit(w, raw[0], d.Milliseconds()) })
	}
	_, err = decoded(&s.object, "extend a permit of", reply, err, leaseLeft)
	return err
}

// LeaseOf returns how long the permit with this id is taken for without another renewal,
// or NoExpiry. ErrNotHeld: it is not taken. It blocks like [Lock.IsLocked]. It is
// Redisson's getLeaseTime.
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
	left, taken, err := codec.DecodePermitLeft(reply)
	if err == nil && !taken {
		err = fmt.Errorf("%w: a permit with this id", ErrNotHeld)
	}
	return left, err
}

// TrySetPermits sets the number of permits, at least 0, if none was set before, and
// reports whether it did. Errors are SetPermits's. It is Redisson's trySetPermits.
func (s *PermitSemaphore) TrySetPermits(ctx context.Context, n int) (bool, error) {
	return s.set(ctx, luasrc.FirstPermits, n)
}

// SetPermits sets the number of all permits, the taken ones included, to n, at least 0.
// If more are taken, the number of free ones is below 0 until enough have come back.
//
// It is sent again after a lost reply, and counts once. While ctx lasts it blocks for at
// most four command timeouts and a second. When ctx is over, it is taken back if it was
// not sent, with ctx's error; else it blocks for at most one more command timeout. It is
// Redisson's setPermits.
//
//   - ErrUncertain: no answer came in time. It may have run, or may yet run.
//   - ErrUnavailable: no server ran it for a command timeout.
//   - ErrRefused: the server's error, such as a key of another type.
//   - ErrUnreplicated: it ran, but no replica confirmed it.
//   - ErrClosed: the client is closed.
//   - ErrInvalidOption, ErrInvalidName: nothing was sent.
func (s *PermitSemaphore) SetPermits(ctx context.Context, n int) error {
	_, err := s.set(ctx, luasrc.TotalPermits, n)
	return err
}

// AddPermits adds n permits or, if n is below 0, takes as many away for good: the number
// of free ones may be below 0 then. Errors are SetPermits's. It is Redisson's addPermits.
func (s *PermitSemaphore) AddPermits(ctx context.Context, n int) error {
	_, err := s.set(ctx, luasrc.MorePermits, n)
	return err
}

func (s *PermitSemaphore) set(ctx context.Context, how string, n int) (bool, error) {
	const doing = "set the permits of"
	if n < 0 && how != luasrc.MorePermits {
		return false, s.failed(doing, fmt.Errorf("%w: %d permits; at least 0", ErrInvalidOption, n))
	}
	return s.change(ctx, doing, func(w *kind.Want) kind.Call { return kind.SetPermits(w, how, n) })
}

// count counts the permits that are free and taken.
func (s *PermitSemaphore) count(ctx context.Context) (free, taken int, err error) {
	reply, err := s.ask(ctx, kind.CountPermits)
	var f, t int64
	if err == nil {
		f, t, err = codec.DecodePermitCount(reply)
	}
	return int(f), int(t), s.failed("ask about", err)
}

// Available returns how many permits are free; below 0, so many more are taken than
// there are. Those whose lease is over count as free. It blocks like [Lock.IsLocked]. It
// is Redisson's availablePermits.
func (s *PermitSemaphore) Available(ctx context.Context) (int, error) {
	free, _, err := s.count(ctx)
	return free, err
}

// Acquired returns how many permits are taken, by anybody. It blocks like
// [Lock.IsLocked]. It is Redisson's acquiredPermits.
func (s *PermitSemaphore) Acquired(ctx context.Context) (int, error) {
	_, taken, err := s.count(ctx)
	return taken, err
}

// Total returns how many permits there are, free or taken. It blocks like
// [Lock.IsLocked]. It is Redisson's getPermits.
func (s *PermitSemaphore) Total(ctx context.Context) (int, error) {
	free, taken, err := s.count(ctx)
	return free + taken, err
}

// Delete deletes the semaphore with all its permits, and reports whether there was one,
// or a Permits of this client. Each of those ends with ErrLeaseLost before. Holders
// elsewhere learn of it as of a ForceUnlock, and who waits is told nothing, as in
// Redisson's delete. Errors are [Lock.ForceUnlock]'s.
func (s *PermitSemaphore) Delete(ctx context.Context) (bool, error) {
	return s.lock.force(ctx, "delete")
}

// Permits are what one acquire of a [PermitSemaphore] has taken. They end together:
// when they are released, when their lease is lost, also if only one of them was given up
// by its id, or when their client is closed. All methods are safe for concurrent use, and
// are as those of a [Hold]. The zero Permits are over.
type Permits struct {
	h *Hold
	n int
}

// hold is the hold that they are.
func (p *Permits) hold() *Hold {
	if p.h == nil {
		return new(Hold)
	}
	return p.h
}

// IDs are their ids, as Java shows them: 32 hex digits each. With them another process
// can give them up.
func (p *Permits) IDs() []string {
	if p.h == nil {
		return nil
	}
	ids := kind.PermitIDs(p.h.h.OwnerText(), p.n)
	for i, id := range ids {
		ids[i] = hex.EncodeToString([]byte(id))
	}
	return ids
}

// Name is the semaphore's name, as it was given to NewPermitSemaphore.
func (p *Permits) Name() string { return p.hold().Name() }

// Release gives them back, as [Hold.Unlock] releases a lock. ErrNotHeld: some of them
// had been given up by their ids, or their time was over; the others are back.
func (p *Permits) Release(ctx context.Context) error { return p.hold().Unlock(ctx) }

// Extend gives permits that were taken with Lease a new one of d from now, as
// [Hold.Extend] does.
func (p *Permits) Extend(ctx context.Context, d time.Duration) error { return p.hold().Extend(ctx, d) }

// Done is closed when they are over, as [Hold.Done].
func (p *Permits) Done() <-chan struct{} { return p.hold().Done() }

// Err is nil while they are held, as [Hold.Err].
func (p *Permits) Err() error { return p.hold().Err() }

// ValidUntil is until when they are certainly held without another renewal, as
// [Hold.ValidUntil].
func (p *Permits) ValidUntil() time.Time { return p.hold().ValidUntil() }

// Context derives a context from parent that also ends with them, as [Hold.Context].
func (p *Permits) Context(parent context.Context) (context.Context, context.CancelFunc) {
	return p.hold().Context(parent)
}
