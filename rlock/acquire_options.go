package rlock

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/lockstate"
)

// AcquireOption is a setting of one acquisition. An option given twice, or
// two that contradict each other, make the call fail with ErrInvalidOption
// before anything is sent.
type AcquireOption func(*terms) error

// terms are what one acquisition asks for.
type terms = lockstate.Terms

// Lease asks for a fixed lease: the lock is free again after d, and no
// watchdog extends it. At least 1 ms; fractions of a millisecond are dropped.
// It is the leaseTime of Redisson's lock and tryLock.
func Lease(d time.Duration) AcquireOption {
	return func(t *terms) error {
		if t.HasLease {
			return fmt.Errorf("%w: Lease given twice", ErrInvalidOption)
		}
		if err := checkLease(d); err != nil {
			return err
		}
		t.Lease, t.HasLease = d.Truncate(time.Millisecond), true
		return nil
	}
}

func checkLease(d time.Duration) error {
	if d < time.Millisecond {
		return fmt.Errorf("%w: a lease of %v; at least 1ms", ErrInvalidOption, d)
	}
	return nil
}

// MaxHold makes the watchdog stop extending after d, counted from the grant,
// so that a stuck holder loses the lock at last: the key goes between d and d
// plus the watchdog timeout. Another hold of the same owner keeps the key as
// long as that hold was promised, and not beyond its unlock. This hold still
// ends by d plus the watchdog timeout, with ErrLeaseLost, and its ValidUntil
// is never later. If the other hold is released in time, the key keeps what
// that ValidUntil says, and 1% more. d is at least 1 ms; together with Lease
// it is ErrInvalidOption.
func MaxHold(d time.Duration) AcquireOption {
	return func(t *terms) error {
		if t.HasMax {
			return fmt.Errorf("%w: MaxHold given twice", ErrInvalidOption)
		}
		if d < time.Millisecond {
			return fmt.Errorf("%w: MaxHold(%v); at least 1ms", ErrInvalidOption, d)
		}
		t.MaxHold, t.HasMax = d, true
		return nil
	}
}

// Wait bounds how long Lock and Do wait for the lock, in addition to ctx. With 0
// they make one attempt, as TryLock does. When the wait is over, the error is
// ErrLocked, as TryLockFor explains, and Do's fn did not run. A negative d is
// ErrInvalidOption, and so is Wait with TryLock or TryLockFor, which have a wait
// already. Default is to wait as long as ctx. It is the waitTime of Redisson's
// tryLock.
func Wait(d time.Duration) AcquireOption {
	return func(t *terms) error {
		if t.HasWait {
			return fmt.Errorf("%w: Wait given twice, or to TryLock or TryLockFor, which have a wait already", ErrInvalidOption)
		}
		if d < 0 {
			return fmt.Errorf("%w: Wait(%v); at least 0", ErrInvalidOption, d)
		}
		t.Wait, t.HasWait = d, true
		return nil
	}
}

// As acquires in the name of owner, which re-enters if it already holds the
// lock. Processes may share an owner by its string. That shares the lock but
// not the trust: another process's acquire or release may set a shorter lease
// than this process knows. The zero Owner is ErrInvalidOption, and so is a
// number of this client's that it never handed out.
func As(owner Owner) AcquireOption {
	return func(t *terms) error {
		if t.As {
			return fmt.Errorf("%w: As given twice", ErrInvalidOption)
		}
		if err := owner.check(); err != nil {
			return err
		}
		t.Owner, t.As = owner.o, true
		return nil
	}
}
