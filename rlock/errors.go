package rlock

import (
	"errors"

	"github.com/rlock-go/redisson/internal/lockstate"
)

// The decisions that a caller takes by error. Each comes wrapped in a text
// that names the lock and says what was seen; test with errors.Is.
var (
	// ErrLocked: somebody else holds the lock. Nothing was changed.
	ErrLocked = lockstate.ErrLocked

	// ErrNotLocked: nobody holds the lock. Nothing was changed.
	ErrNotLocked = errors.New("not locked")

	// ErrNotHeld: the owner does not hold the lock, or not any more. Nothing
	// was changed; but beside ErrLeaseLost, from the Unlock of a lost hold, a
	// key that was still there was released. Java throws
	// IllegalMonitorStateException here.
	ErrNotHeld = lockstate.ErrNotHeld

	// ErrReleased: this Hold was released by an earlier Unlock.
	ErrReleased = lockstate.ErrReleased

	// ErrLeaseLost: the hold ended before it was released: its lease ran out,
	// perhaps before the acquire was answered, the server says that it belongs
	// to somebody else, or it was forced. Others may be inside by now.
	ErrLeaseLost = lockstate.ErrLeaseLost

	// ErrUncertain: the command was sent, no answer came, and what it did
	// could not be found out in time. The text says what may be left on the
	// server, and for how long.
	ErrUncertain = lockstate.ErrUncertain

	// ErrClosed: the Client was closed, or is being shut down.
	ErrClosed = lockstate.ErrClosed

	// ErrInvalidOption: an option, owner or URL that can't be used. Nothing
	// was sent.
	ErrInvalidOption = lockstate.ErrInvalidOption

	// ErrInvalidName: a lock name that can't be used. Nothing was sent.
	ErrInvalidName = errors.New("invalid lock name")
)

// wrap names what was being done and to which lock.
func wrap(doing, name string, err error) error { return lockstate.Named(doing, name, err) }
