package rlock

import (
	"context"
	"errors"
	"fmt"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/locks"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// The errors that a caller may have to tell apart. Each is wrapped in a text that
// names the lock and says what happened; test with errors.Is.
//
// Each group of calls lists its errors in one place: [Lock.IsLocked] for those that ask the
// server something, [Lock.Lock] and [PermitSemaphore.Acquire] for those that acquire,
// [Hold.Unlock] and [Permits.Release] for those that release, and
// [PermitSemaphore.SetPermits] for those that change a number.
var (
	// ErrLocked: another owner holds the lock. Nothing was changed. If the text says
	// that the last attempt was not answered, the client gives back whatever it took.
	ErrLocked = locks.ErrLocked

	// ErrNoPermits: fewer permits of a Semaphore or a PermitSemaphore are free than were
	// wanted. Nothing was changed.
	ErrNoPermits = locks.ErrNoPermits

	// ErrNotOpen: the CountDownLatch did not open in time.
	ErrNotOpen = locks.ErrNotOpen

	// ErrNotLocked: nobody holds the lock. Nothing was changed.
	ErrNotLocked = errors.New("not locked")

	// ErrNotHeld: the owner does not hold the lock, or no longer does, or no permit with this id is
	// taken. Nothing was changed, with three exceptions: the Unlock of a lost hold,
	// Permits.Release, and ReleaseIDs of one expired permit may have released something first. From
	// a Hold or Permits it is always ErrLeaseLost too. Java throws IllegalMonitorStateException
	// here.
	ErrNotHeld = locks.ErrNotHeld

	// ErrReleased: Unlock was called on this Hold before, or Release on these Permits,
	// whatever that call returned.
	ErrReleased = locks.ErrReleased

	// ErrLeaseLost: the hold ended before it was released, and others may hold the lock by
	// now. Its lease ran out, perhaps before the acquire was answered, or the server no
	// longer knows of the hold, or this client forced the lock or deleted the semaphore.
	ErrLeaseLost = locks.ErrLeaseLost

	// ErrUncertain: the command was sent, no answer came, and the client could
	// not find out in time what it did. Or the script failed on the server, and a
	// part of it may have run. The text says what may be left on the server, and
	// for how long.
	ErrUncertain = locks.ErrUncertain

	// ErrClosed: the Client is closed, or is being shut down.
	ErrClosed = locks.ErrClosed

	// ErrInvalidOption: an option, owner or URL can't be used, perhaps because the server
	// needs a URL of another scheme. Or a context, function or option is nil. No lock was
	// asked for.
	ErrInvalidOption = locks.ErrInvalidOption

	// ErrInvalidName: a name can't be used. Nothing was sent.
	ErrInvalidName = errors.New("invalid name")

	// ErrUnavailable: no server ran the command in time. None could be reached,
	// or none would run it because it was loading, a replica or busy, or
	// because the slot was moving. Nothing was changed so far; a release may yet
	// run. The text says which, and ends with what the server said, a redis.Error
	// of redigo if there is one. A later call may succeed.
	ErrUnavailable = locks.ErrUnavailable

	// ErrRefused: the server answered with an error that a later call is likely to
	// meet too, such as a missing permission or no memory. Or the key is no lock (the
	// text says what it is), or the answer does not fit the command. The server's
	// error is a redis.Error of redigo (github.com/gomodule/redigo/redis). Nothing was
	// changed.
	ErrRefused = locks.ErrRefused

	// ErrUnannounced: the change was made, but waiters could not be notified, for example
	// because the account may not publish. They find out by themselves after a while. Don't
	// repeat the call: a second Release, for example, would give permits that nobody had taken.
	ErrUnannounced = locks.ErrUnannounced

	// ErrReentered: the owner holds the lock already, and NewNonReentrantLock's can't be
	// entered twice. Nothing was changed. Java throws IllegalMonitorStateException.
	ErrReentered = kind.ErrReentered

	// ErrUnreplicated, with WithReplicaSync: the command ran, but no replica
	// acknowledged it, so a failover may undo it. An acquire has given back each
	// such grant, or gives it back in the background; the text says which. An Unlock
	// has released the lock. An Extend counts only while the shorter of both leases
	// lasts. With a command timeout of about a second or less, the answer comes too late
	// and the error may be ErrUncertain instead.
	ErrUnreplicated = locks.ErrUnreplicated
)

// kinds are the errors above and a context's. A call returns no others.
var kinds = []error{
	ErrLocked, ErrNoPermits, ErrNotOpen, ErrNotLocked, ErrNotHeld, ErrReleased, ErrLeaseLost, ErrUncertain, ErrClosed, ErrInvalidOption, ErrInvalidName,
	ErrUnavailable, ErrRefused, ErrUnannounced, ErrReentered, ErrUnreplicated, context.Canceled, context.DeadlineExceeded,
}

// wrap adds the operation and the lock's name to err; nil stays nil.
func wrap(doing, name string, err error) error {
	if err == nil {
		return nil
	}
	return locks.Named(doing, name, ofKind(err))
}

// ofKind returns err, classified if it is none of the kinds.
func ofKind(err error) error {
	for _, one := range kinds {
		if errors.Is(err, one) {
			return err
		}
	}
	if errors.Is(err, redisconn.ErrTopology) && redisconn.Permanent(err) {
		return fmt.Errorf("%w: %w", ErrInvalidOption, err) // the URL's scheme does not fit the server
	}
	return locks.Classify(err)
}
