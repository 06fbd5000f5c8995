package lockstate

import (
	"errors"
	"fmt"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
)

// The errors that package rlock exports under the same names. Its comments say
// what they promise to callers.
var (
	// ErrLocked: another owner holds the lock.
	ErrLocked = errors.New("locked by another owner")

	// ErrNotHeld: the owner does not hold the lock, or not any more.
	ErrNotHeld = errors.New("not held by this owner")

	// ErrReleased: the hold was released before.
	ErrReleased = errors.New("hold already released")

	// ErrLeaseLost: the hold ended before it was released.
	ErrLeaseLost = errors.New("lease lost")

	// ErrUncertain: what a command did could not be found out in time.
	ErrUncertain = errors.New("outcome uncertain")

	// ErrClosed: the client was closed, or is being shut down.
	ErrClosed = errors.New("client closed")

	// ErrInvalidOption: a call that the state it meets does not allow.
	ErrInvalidOption = errors.New("invalid option")

	// ErrUnavailable: no server ran the command in time.
	ErrUnavailable = errors.New("no server ran it in time")

	// ErrRefused: the server answered with an error, or with what is no answer.
	ErrRefused = errors.New("refused by the server")

	// ErrUnreplicated: it ran, and no replica is known to have it.
	ErrUnreplicated = errors.New("no replica acknowledged it")
)

// errReplicasNotKnown is why nobody can tell whether a replica has an unlock
// that ran.
var errReplicasNotKnown error = ofKind{errors.New("released, but whether a replica has it is not known"), ErrUnreplicated}

// ofKind is an error of a kind that its text does not name.
type ofKind struct {
	error
	kind error
}

func (e ofKind) Is(target error) bool { return target == e.kind }
func (e ofKind) Unwrap() error        { return e.error }

// OfKind gives err, how a command ended, one of the kinds that callers can ask
// for. It is for an error that has none yet.
func OfKind(err error) error {
	if _, shape := errors.AsType[*codec.ShapeError](err); !shape && command.Unavailable(err) {
		return ofKind{err, ErrUnavailable}
	}
	return ofKind{err, ErrRefused}
}

// Named is an error of a call that names what was being done and to which lock.
func Named(doing, name string, err error) error {
	return fmt.Errorf("rlock: %s %s: %w", doing, Quote(name), err)
}

// Quote shows a name that users chose, cut to a length that a log line bears.
func Quote(s string) string {
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
