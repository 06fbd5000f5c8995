package rlock

import (
	"errors"
	"fmt"
)

// The decisions that a caller takes by error. Each comes wrapped in a text
// that names the lock and says what was seen; test with errors.Is.
var (
	// ErrLocked: somebody else holds the lock. Nothing was changed.
	ErrLocked = errors.New("locked by another owner")

	// ErrNotLocked: nobody holds the lock. Nothing was changed.
	ErrNotLocked = errors.New("not locked")

	// ErrNotHeld: the owner does not hold the lock, or not any more. Nothing
	// was changed; but beside ErrLeaseLost, from the Unlock of a lost hold, a
	// key that was still there was released. Java throws
	// IllegalMonitorStateException here.
	ErrNotHeld = errors.New("not held by this owner")

	// ErrReleased: this Hold was released by an earlier Unlock.
	ErrReleased = errors.New("hold already released")

	// ErrLeaseLost: the hold ended before it was released: its lease ran out,
	// perhaps before the acquire was answered, the server says that it belongs
	// to somebody else, or it was forced. Others may be inside by now.
	ErrLeaseLost = errors.New("lease lost")

	// ErrUncertain: the command was sent, no answer came, and what it did
	// could not be found out in time. The text says what may be left on the
	// server, and for how long.
	ErrUncertain = errors.New("outcome uncertain")

	// ErrClosed: the Client was closed, or is being shut down.
	ErrClosed = errors.New("client closed")

	// ErrInvalidOption: an option, owner or URL that can't be used. Nothing
	// was sent.
	ErrInvalidOption = errors.New("invalid option")

	// ErrInvalidName: a lock name that can't be used. Nothing was sent.
	ErrInvalidName = errors.New("invalid lock name")
)

// errUnreplicated is why a grant was given back that no replica acknowledged.
var errUnreplicated = errors.New("no replica acknowledged it")

// wrap names what was being done and to which lock.
func wrap(doing, name string, err error) error {
	return fmt.Errorf("rlock: %s %s: %w", doing, quote(name), err)
}

// quote shows a name that users chose, cut to a length that a log line bears.
func quote(s string) string {
	const most = 128
	if len(s) > most {
		return fmt.Sprintf("%q… (%d bytes)", s[:most], len(s))
	}
	return fmt.Sprintf("%q", s)
}

// lostHold is the loss of a hold as a call reports it that needed the hold.
// It is ErrNotHeld too, which would say the same once more.
type lostHold struct{ error }

func (e lostHold) Is(target error) bool { return target == ErrNotHeld }
func (e lostHold) Unwrap() error        { return e.error }

// notHeld is what Java's IllegalMonitorStateException says.
func notHeld(o Owner) error {
	return fmt.Errorf("%w: attempt to unlock lock, not locked by current thread by node id: %s thread-id: %d", ErrNotHeld, o.client, o.thread)
}
