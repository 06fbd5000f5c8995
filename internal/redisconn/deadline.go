package redisconn

import (
	"context"
	"errors"
)

// ownDeadline is an error of connecting that took too long. It does not match
// context.DeadlineExceeded: the deadline was this package's, and callers would take
// that error for their own context's.
type ownDeadline struct{ err error }

// OwnDeadline hides a deadline that was not the caller's. Everything else that
// err is or wraps stays visible.
func OwnDeadline(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return ownDeadline{err}
	}
	return err
}

func (e ownDeadline) Error() string { return e.err.Error() }

// Is asks the error beneath, but for that one target.
func (e ownDeadline) Is(target error) bool {
	return target != context.DeadlineExceeded && errors.Is(e.err, target)
}

// As asks the error beneath.
func (e ownDeadline) As(target any) bool { return errors.As(e.err, target) }
