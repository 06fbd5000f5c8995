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
// so that a holder that is stuck lets go at last: the key goes between d and
// d plus the watchdog timeout. Another hold of the same owner keeps the key
// for as long as it was promised itself, and not beyond its unlock; this one
// ends by d plus the watchdog timeout all the same, with ErrLeaseLost, and its
// ValidUntil is never later. When the other is released in time, the key is
// left what that ValidUntil says, and 1% more. At least 1 ms; together with
// Lease it is ErrInvalidOption.
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

// As acquires in the name of owner, which re-enters if it holds the lock
// already. An owner may be shared among processes by its string; that shares
// the lock but not the trust: another process's acquire or release may set a
// shorter lease than this one knows of. The zero Owner is ErrInvalidOption, and
// so is a number of this client's that it never handed out.
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
