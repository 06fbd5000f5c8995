// Package lockerr has the errors that callers can ask for, which package rlock exports under the same names, and
// the texts of those that more than one kind of call meets.
package lockerr

import (
	"errors"
	"fmt"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/refusal"
)

// The errors that package rlock exports under the same names. Its comments say
// what they promise to callers.
var (
	// ErrLocked: another owner holds the lock.
	ErrLocked = errors.New("locked by another owner")

	// ErrNoPermits: fewer permits are free.
	ErrNoPermits = errors.New("too few permits are free")

	// ErrNotOpen: a latch has not opened.
	ErrNotOpen = errors.New("the latch has not opened")

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

// Unreplicated is ErrUnreplicated of r, with why the replicas are waited for that have
// gone.
func Unreplicated(r *command.Request) error {
	if acked := r.Wire.Acked; acked > 0 {
		return OfKind(fmt.Errorf("%d of %d replicas acknowledged it, and what it counts does not pass with a lease", acked, r.Wire.Replicas), ErrUnreplicated)
	}
	if doubt := r.Doubt(); doubt != nil {
		return fmt.Errorf("%w, and the master may be about to be replaced: %w", ErrUnreplicated, doubt)
	}
	return ErrUnreplicated
}

// OfKind is err, of a kind that its text does not name.
func OfKind(err, kind error) error { return ofKind{err, kind} }

type ofKind struct {
	error
	kind error
}

func (e ofKind) Is(target error) bool { return target == e.kind }

func (e ofKind) Unwrap() error { return e.error }

// Classify gives err, how a command ended, one of the kinds that callers can ask
// for. It is for an error that has none yet.
func Classify(err error) error {
	if said, _ := refusal.Of(err); said.WrongType() {
		err = wrongType{err}
	}
	if _, shape := errors.AsType[*codec.ShapeError](err); !shape && command.Unavailable(err) {
		return OfKind(err, ErrUnavailable)
	}
	return OfKind(err, ErrRefused)
}

// wrongType is a WRONGTYPE of the server's without the script that met it.
type wrongType struct{ error }

func (e wrongType) Error() string {
	return "the key holds a value of another type, which is no lock (WRONGTYPE)"
}

func (e wrongType) Unwrap() error { return e.error }

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

// Lost is the loss of a hold as a call reports it that needed the hold.
// It is ErrNotHeld too, which would say the same once more.
func Lost(err error) error { return OfKind(err, ErrNotHeld) }

// InPart is the error of a command of which the server's error, met inside its script,
// does not tell what it has done.
func InPart(err error) error {
	return fmt.Errorf("%w: its script met an error, and may have run in part: %w", ErrUncertain, err)
}

// Unanswered is why a command has no answer.
func Unanswered(r *command.Request) error {
	switch {
	case r.Fate == command.Refused && r.MayHaveRun():
		return InPart(r.Wire.Err)
	case r.Reached() != 0:
		return fmt.Errorf("%w: it was sent and never answered: %w", ErrUncertain, r.Wire.Err)
	case r.Fate == command.Closed:
		return ErrClosed
	}
	return r.Wire.Err
}
