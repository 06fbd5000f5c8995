package command

import (
	"errors"
	"fmt"

	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/refusal"
)

// Fate is what became of a command.
type Fate uint8

// A request has exactly one of these when it is done.
const (
	Open      Fate = iota // nothing is known yet
	Answered              // the server ran it
	Refused               // the server answered with an error
	NotSent               // nothing of it ran: it never left this process, or only for servers that may not write
	Lost                  // it was sent and never answered
	Closed                // the client was closed before it was sent
	TakenBack             // it was, before anything of it had run, or of a repetition
)

// fateOf reads a fate off the error that a request ended with.
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

// IsLost tells the error of a command that was sent and never answered.
func IsLost(err error) bool { return fateOf(err) == Lost }

// IsClosed tells the error of a command that met a closed client.
func IsClosed(err error) bool { return fateOf(err) == Closed }

// Unsent is the error of a command that was not sent because of cause.
func Unsent(cause error) error { return &pipeline.NotSentError{Cause: cause} }

// Unavailable tells the error of a command that no server took: none could be
// reached, or none runs it for now. A later one may be taken. Of a read, which
// changes nothing, it is also that nobody answered.
func Unavailable(err error) bool {
	said, ok := refusal.Of(err)
	if !ok {
		return true
	}
	if _, unsent := errors.AsType[*pipeline.NotSentError](err); unsent {
		return !said.OfConnection()
	}
	return said.Transient() || said.Redirects()
}

// IsRefusal tells the error of a command that a server refused, and would again.
func IsRefusal(err error) bool {
	return refusal.Is(err) && fateOf(err) == Refused && !Unavailable(err)
}

// NoReply is the error of a command whose reply took longer than its caller
// waits.
func NoReply(format string, args ...any) error {
	return &pipeline.LostError{Cause: fmt.Errorf(format, args...)}
}
