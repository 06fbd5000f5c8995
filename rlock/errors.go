package rlock

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/pipeline"
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

// lost tells a request that was sent and never answered.
func lost(err error) bool {
	_, ok := err.(*pipeline.LostError)
	return ok
}

// notSent tells a request that never left.
func notSent(err error) bool {
	_, ok := err.(*pipeline.NotSentError)
	return ok
}

// closedPipe tells a request that ended because its pipeline did.
func closedPipe(err error) bool { return errors.Is(err, pipeline.ErrClosed) }

// transient tells a server's refusal that passes by itself. Such a command
// was not executed.
func transient(err error) bool {
	return hasCode(err, "LOADING", "MASTERDOWN", "BUSY", "TRYAGAIN", "CLUSTERDOWN")
}

// passing tells a refusal that a failover or a clean-up ends: worth waiting
// out for somebody who waits anyway, not for somebody who asks once.
func passing(err error) bool {
	return transient(err) || hasCode(err, "READONLY", "OOM", "NOREPLICAS", "MISCONF", "NOSCRIPT")
}

// harmless tells an error reply that stands for a script of which nothing
// ran.
func harmless(err error) bool {
	return turnedAway(err) || passing(err) || hasCode(err, "WRONGTYPE", "NOAUTH", "MOVED", "ASK", "CROSSSLOT")
}

// turnedAway tells a command that the server refused before any of it ran,
// because the account may not send it or not with these keys, or because the
// server has no such command. A script that meets the same inside may have
// run in part.
func turnedAway(err error) bool {
	re, ok := errors.AsType[redis.Error](err)
	if !ok {
		return false
	}
	said, inside := luasrc.SaidInside(string(re))
	return !inside && (strings.HasPrefix(said, "NOPERM ") || strings.HasPrefix(said, "ERR unknown command "))
}

// mayHaveRun tells, of how a script's command ended, whether the server has run
// it, or a part of it, or may have.
func mayHaveRun(err error) bool { return err == nil || !notSent(err) && !harmless(err) }

func hasCode(err error, codes ...string) bool {
	re, ok := errors.AsType[redis.Error](err)
	if !ok {
		return false
	}
	said, _ := luasrc.SaidInside(string(re))
	first, _, _ := strings.Cut(said, " ")
	return slices.Contains(codes, first)
}
