package redisconn

import (
	"context"
	"errors"
)

// ownDeadline is the error if connecting took too long. It does not match
// context.DeadlineExceeded, because the deadline was this package's, and callers would
// take that error for their own context's.
type ownDeadline struct{ err error }

// OwnDeadline makes err not match context.DeadlineExceeded, for a deadline that was
// not the caller's. It still matches everything else that it is or wraps.
func OwnDeadline(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return ownDeadline{err}
	}
	return err
}

func (e ownDeadline) Error() string { return e.err.Error() }

// Is asks the wrapped error, except about context.DeadlineExceeded.
func (e ownDeadline) Is(target error) bool {
	return target != context.DeadlineExceeded && errors.Is(e.err, target)
}

// As asks the wrapped error.
func (e ownDeadline) As(target any) bool { return errors.As(e.err, target) }
