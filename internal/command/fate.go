package command

import (
	"errors"
	"fmt"

	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// Fate is what became of a command.
type Fate uint8

// A request has exactly one of these when it is done.
const (
	Open      Fate = iota // nothing is known yet
	Answered              // the server ran it
	Refused               // the server answered with an error
	NotSent               // nothing of it ran: it was never sent, or each server that got it did not run it
	Lost                  // it was sent and never answered
	Closed                // the client was closed before it was sent
	TakenBack             // Cancel took it back before this send was written
)

// fateOf returns the fate that belongs to the error of a request's last send.
func fateOf(err error) Fate {
	switch err.(type) {
	case nil:
		return Answered
	case *pipeline.LostError:
		return Lost
	case *pipeline.NotSentError:
		if errors.Is(err, pipeline.ErrClosed) {
			return Closed
		}
		return NotSent
	default:
		return Refused
	}
}

// IsLost tells whether err says that a command was sent and never answered.
func IsLost(err error) bool { return fateOf(err) == Lost }

// IsClosed tells whether err says that a command met a closed client.
func IsClosed(err error) bool { return fateOf(err) == Closed }

// Unsent returns the error of a command that was not sent because of cause.
func Unsent(cause error) error { return &pipeline.NotSentError{Cause: cause} }

// Unavailable tells whether err says that no server took a command: none could be
// reached, or none runs it for now. A later command may succeed. It is also true of
// a lost command, which fits a read only: a write may have run.
func Unavailable(err error) bool {
	said, ok := redisconn.RefusalOf(err)
	if !ok {
		return true
	}
	if _, unsent := errors.AsType[*pipeline.NotSentError](err); unsent {
		return !said.OfConnection()
	}
	return said.Transient() || said.Redirects()
}

// IsRefusal tells whether a server refused a command and would refuse it again.
func IsRefusal(err error) bool {
	return redisconn.IsRefusal(err) && fateOf(err) == Refused && !Unavailable(err)
}

// NoReply returns the error of a lost command, for a reply that took longer than
// its caller waits.
func NoReply(format string, args ...any) error {
	return &pipeline.LostError{Cause: fmt.Errorf(format, args...)}
}
