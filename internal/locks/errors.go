package locks

import (
	"errors"
	"fmt"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// Package rlock exports these errors under the same names. Its comments say what they promise
// to callers.
var (
	// ErrLocked: another owner holds the lock.
	ErrLocked = errors.New("locked by another owner")

	// ErrNoPermits: fewer permits are free than were asked for.
	ErrNoPermits = errors.New("too few permits are free")

	// ErrNotOpen: a latch has not opened.
	ErrNotOpen = errors.New("the latch has not opened")

	// ErrNotHeld: the owner does not hold the lock, or not any more.
	ErrNotHeld = errors.New("not held by this owner")

	// ErrReleased: the hold was released before.
	ErrReleased = errors.New("already released")

	// ErrLeaseLost: the hold ended before it was released.
	ErrLeaseLost = errors.New("lease lost")

	// ErrUncertain: what a command did could not be found out in time.
	ErrUncertain = errors.New("outcome uncertain")

	// ErrClosed: the client was closed, or is being shut down.
	ErrClosed = errors.New("client closed")

	// ErrInvalidOption: an option or owner can't be used, or the state does not allow the call.
	ErrInvalidOption = errors.New("invalid option")

	// ErrUnavailable: no server ran the command in time.
	ErrUnavailable = errors.New("no server ran it in time")

	// ErrRefused: the server replied with an error, or with what does not fit the command.
	ErrRefused = errors.New("refused by the server")

	// ErrUnannounced: a change was made, and the script could not publish it.
	ErrUnannounced = errors.New("waiters could not be notified")

	// ErrUnreplicated: the command ran, and no replica is known to have it.
	ErrUnreplicated = errors.New("no replica acknowledged it")
)

// unreplicated is ErrUnreplicated for r. It says how many replicas acknowledged r if some did,
// or else why replicas that have disappeared are still waited for.
func unreplicated(r *command.Request) error {
	if acked := r.Wire.Acked; acked > 0 {
		return ofKind(fmt.Errorf("only %d of %d replicas acknowledged it; all must, because no lease would correct the count", acked, r.Wire.Replicas), ErrUnreplicated)
	}
	if doubt := r.Doubt(); doubt != nil {
		return fmt.Errorf("%w, and the master may be about to be replaced: %w", ErrUnreplicated, doubt)
	}
	return ErrUnreplicated
}

// unannounced is ErrUnannounced for a change that was made. did is what it did, why the server's
// error for the message.
func unannounced(did string, why error) error {
	return fmt.Errorf("%s, but %w: %w", did, ErrUnannounced, why)
}

// ofKind makes err also match kind by errors.Is. Its text stays as it is.
func ofKind(err, kind error) error { return kindError{err, kind} }

type kindError struct {
	error
	kind error
}

func (e kindError) Is(target error) bool { return target == e.kind }

func (e kindError) Unwrap() error { return e.error }

// Classify makes err, the error of a command, ErrUnavailable or ErrRefused for errors.Is. It is
// for an error that has no kind yet.
func Classify(err error) error {
	if said, _ := redisconn.RefusalOf(err); said.WrongType() {
		err = wrongType{err}
	}
	if _, shape := errors.AsType[*luasrc.ShapeError](err); !shape && command.Unavailable(err) {
		return ofKind(err, ErrUnavailable)
	}
	return ofKind(err, ErrRefused)
}

// wrongType is the server's WRONGTYPE error, shown without the script that met it. It does not
// say which of the lock's keys it is about.
type wrongType struct{ error }

func (e wrongType) Error() string {
	return "a key holds a value of another type (WRONGTYPE)"
}

func (e wrongType) Unwrap() error { return e.error }

// WithTrouble adds to err the last trouble, if there was any.
func WithTrouble(err, last error) error {
	if last == nil {
		return err
	}
	return fmt.Errorf("%w (last trouble: %w)", err, last)
}

// Named adds to err what was being done and to which lock.
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

// NotHeld is an ErrNotHeld with another text.
func NotHeld(text string) error { return ofKind(errors.New(text), ErrNotHeld) }

// lost makes the loss of a hold the error of a call that needed the hold. It also matches
// ErrNotHeld, without repeating that in the text.
func lost(err error) error { return ofKind(err, ErrNotHeld) }

// inPart is the error of a command whose script met an error, so that it is unknown what it
// did.
func inPart(err error) error {
	return fmt.Errorf("%w: its script met an error, and may have run in part: %w", ErrUncertain, err)
}

// unanswered is the error of a command that ended without a result.
func unanswered(r *command.Request) error {
	switch {
	case r.Fate == command.Refused && r.MayHaveRun():
		return inPart(r.Wire.Err)
	case r.Reached() != 0:
		return fmt.Errorf("%w: it was sent and never answered: %w", ErrUncertain, r.Wire.Err)
	case r.Fate == command.Closed:
		return ErrClosed
	}
	return r.Wire.Err
}
