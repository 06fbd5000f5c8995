package rlock

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/locks"
)

// AcquireOption is a setting of one acquisition of a lock: [As], [AtLeast], [MaxHold], and
// [Lease], [Margin] and [Wait]. If an option is nil or given twice, or two options contradict
// each other, the call returns ErrInvalidOption and sends nothing.
type AcquireOption interface{ setTerms(*terms) error }

// PermitOption is an AcquireOption that permits of a [PermitSemaphore] can have too:
// [Lease], [Margin] and [Wait].
type PermitOption interface {
	AcquireOption
	forPermits()
}

// WaitOption is a PermitOption that a [Semaphore] can have too, whose permits have neither
// an owner nor a lease: [Wait].
type WaitOption interface {
	PermitOption
	forSemaphore()
}

type (
	acquireOption func(*terms) error
	permitOption  struct{ acquireOption }
	waitOption    struct{ permitOption }
)

func (o acquireOption) setTerms(t *terms) error { return o(t) }
func (permitOption) forPermits()                {}
func (waitOption) forSemaphore()                {}

// terms are the settings of one acquisition.
type terms = locks.Terms

// Lease sets a fixed lease: the lock is free again after d, and the watchdog
// does not extend it. d is at least 1 ms and has no upper bound; fractions of a millisecond
// are dropped. It is the leaseTime of Redisson's lock and tryLock.
func Lease(d time.Duration) PermitOption {
	return permitOption{func(t *terms) error {
		if t.Lease > 0 {
			return fmt.Errorf("%w: Lease given twice", ErrInvalidOption)
		}
		if err := checkLease(d); err != nil {
			return err
		}
		t.Lease = d.Truncate(time.Millisecond)
		return nil
	}}
}

func checkLease(d time.Duration) error {
	if d < time.Millisecond {
		return fmt.Errorf("%w: a lease of %v; at least 1ms", ErrInvalidOption, d)
	}
	return nil
}

// setOnce sets what an option gives, unless that was given before or is less than a millisecond.
func setOnce(to *time.Duration, option string, d time.Duration) error {
	switch {
	case *to > 0:
		return fmt.Errorf("%w: %s given twice", ErrInvalidOption, option)
	case d < time.Millisecond:
		return fmt.Errorf("%w: %s(%v); at least 1ms", ErrInvalidOption, option, d)
	}
	*to = d
	return nil
}

// Margin makes the contexts of Do, Lead, [Hold.Context] and [Permits.Context] end no later than
// d before ValidUntil, so that work can stop before another owner may begin. Their cause is
// ErrLeaseLost, and its text says how long the lease still lasts. A renewal moves that moment,
// so the contexts of a hold that the watchdog renews end only if renewals fail. A renewal after
// that does not revive them.
//
// The hold itself goes on: Err is nil and Done open until ValidUntil. If the hold is released
// before, Do adds ErrLeaseLost only to the context's error, if fn returned that.
//
// d is at least 0, which ends the contexts with the hold. It is at most half of the Lease, the
// MaxHold or the watchdog timeout, whichever is the shortest that applies. A larger one is
// ErrInvalidOption. If Extend makes the lease shorter than d, its contexts end at once. Default
// is what [WithMargin] says.
func Margin(d time.Duration) PermitOption {
	return permitOption{func(t *terms) error {
		if t.HasMargin {
			return fmt.Errorf("%w: Margin given twice", ErrInvalidOption)
		}
		if d < 0 {
			return fmt.Errorf("%w: Margin(%v); at least 0", ErrInvalidOption, d)
		}
		t.Margin, t.HasMargin = d, true
		return nil
	}}
}

// MaxHold limits how long the watchdog renews the lock, so that a stuck holder
// loses it in the end. The watchdog stops when d has passed since the grant: the
// key expires between d and d plus the watchdog timeout, so a d that is shorter
// than this timeout does not shorten the first lease. The hold ends with
// ErrLeaseLost at its ValidUntil, which is before the key expires.
//
// If the owner has another hold, the key lives as long as that one needs. When
// the other hold is unlocked, the key gets the TTL that this hold was promised
// last. d is at least 1 ms; together with Lease it is ErrInvalidOption.
func MaxHold(d time.Duration) AcquireOption {
	return acquireOption(func(t *terms) error { return setOnce(&t.MaxHold, "MaxHold", d) })
}

// AtLeast keeps the lock taken for at least d after the grant: a release before that ends the
// hold, but leaves the key for the rest of d. Waiters get one message about the release, and
// wait until d is over. So a short job that all processes start at the same time of day runs
// once, if their clocks differ by less than d and they use TryLock or Wait(0): with Lock or Do
// alone the others wait, and then run it too. Meanwhile Info has an owner whom nobody acts as,
// see IsKeeper of package codec. It is ShedLock's lockAtLeastFor.
//
// A loss or a ForceUnlock frees the lock earlier. So does the death of the process that
// holds it, unless the lock was taken with Lease. If an owner has several holds, the latest
// end counts, whatever this client does with the others: a nested lease that ends, MaxHold,
// Extend, Unlock and UnlockAs leave the lock taken until then. Another client that acts for
// the owner, by As or UnlockAs, does not know of it, and may free the lock earlier.
//
// d is at least 1 ms, and at most the Lease or MaxHold, if one is given. It is for locks
// that one owner holds alone, as NewLock's; with read-write locks it is ErrInvalidOption.
func AtLeast(d time.Duration) AcquireOption {
	return acquireOption(func(t *terms) error { return setOnce(&t.AtLeast, "AtLeast", d) })
}

// Wait limits how long Lock, Acquire and Do wait, in addition to ctx. With 0 they
// make one attempt, as TryLock does. When the wait is over, the error is ErrLocked,
// as TryLockFor explains, or ErrNoPermits of a semaphore, and Do has not run fn. A
// negative d is ErrInvalidOption, and so is Wait with TryLock, TryLockFor,
// TryAcquire or TryAcquireFor, which have a wait already. Default is to wait until
// ctx ends. It is the waitTime of Redisson's tryLock and tryAcquire.
func Wait(d time.Duration) WaitOption {
	return waitOption{permitOption{func(t *terms) error {
		if t.HasWait {
			return fmt.Errorf("%w: a second Wait; calls that try once or for a time have one already", ErrInvalidOption)
		}
		if d < 0 {
			return fmt.Errorf("%w: Wait(%v); at least 0", ErrInvalidOption, d)
		}
		t.Wait, t.HasWait = d, true
		return nil
	}}}
}

// As acquires for owner instead of a new one. If owner already holds the lock, it
// re-enters. Processes may share an owner by its string. They share the lock, but
// not what each knows of its lease: another process's acquire or release may set a
// shorter lease than this process knows. The zero Owner is ErrInvalidOption, and so
// is an owner with this client's id that the client never handed out.
func As(owner Owner) AcquireOption {
	return acquireOption(func(t *terms) error {
		if t.As {
			return fmt.Errorf("%w: As given twice", ErrInvalidOption)
		}
		if err := owner.check(); err != nil {
			return err
		}
		t.Owner, t.As = owner.o, true
		return nil
	})
}
