// Package observe has the events that an observer of a client gets, and the queue for
// those that happen on the client's own goroutines.
//
// A call that acquires or releases keeps what happens in its name, and tells it on its
// caller's goroutine when it ends. Everything else goes through a [Queue], so that an
// observer never runs where replies are read or leases are renewed. Without an
// observer nothing is kept, and no clock is read.
package observe

import (
	"context"
	"fmt"
	"time"
)

// Observer gets the events of one client. Its methods are called with no lock held.
// A panic of the user's code goes to what OnPanic was given, before all else.
type Observer interface {
	OnPanic(func(with any))                                 // what gets the panics
	Calls() bool                                            // whether Acquire, Release or Released is to be called
	Commands() bool                                         // whether Command is
	Acquire(ctx context.Context, s Subject) context.Context // begins a call that acquires
	Waiting(ctx context.Context, s Subject, at time.Time)   // since when it waited
	Woken(ctx context.Context, s Subject, w Wake)           // when it tried again
	Acquired(ctx context.Context, s Subject, a Acquire)     // ends it
	Release(ctx context.Context, s Subject) context.Context // begins a call of Unlock
	Released(ctx context.Context, s Subject, r Release)     // ends it
	Ended(s Subject, h Hold)                                // a hold is over
	Renewed(s Subject, r Renewal)                           // of one lease
	Undone(s Subject, u Undo)                               // of one acquire
	Reconnected(s Server)                                   // a connection took the place of another
	NodeChanged(s Server)                                   // slots have another server
	Command(ctx context.Context, c Command)                 // one was sent
}

// Subject is the lock that an event is of. The text of the owner is made when it is
// asked for; nil: nobody's.
type Subject struct {
	Name, Kind string       // as its user gave it; kind.Label's word
	Owner      fmt.Stringer // nil: nobody's
}

// How an acquire ends.
const (
	Acquired  = iota // it has what it wanted
	Locked           // refused, and was not to wait
	Timeout          // its wait is over
	Cancelled        // its context is
	Uncertain        // nobody knows
	Failed           // any other error
	Outcomes         // how many there are
)

// OutcomeNames are the words for them.
var OutcomeNames = [Outcomes]string{"acquired", "locked", "timeout", "cancelled", "uncertain", "error"}

// Why a hold is lost.
const (
	Taken       = iota // the server says that the owner does not hold it
	Expired            // its last lease was not to be renewed
	Unreachable        // no renewal came through
	Reasons            // how many there are
)

// ReasonNames are the words for them.
var ReasonNames = [Reasons]string{"taken", "expired", "unreachable"}

// Wake is one wake-up.
type Wake struct {
	Source string    // message, expiry, handoff, look
	At     time.Time // when
}

// Acquire is how an acquire ended.
type Acquire struct {
	Outcome   string        // of OutcomeNames
	Wait      time.Duration // how long it took
	Attempts  int           // of its own
	Contended bool          // others had it, or came before
	Err       error         // what its caller gets
}

// Release is how a call of Unlock ended.
type Release struct {
	Err    error     // what its caller gets
	Reason string    // of ReasonNames, if it was lost before
	LostAt time.Time // when
}

// Hold is how a hold ended.
type Hold struct {
	End    string        // released, lost, expired
	Reason string        // of ReasonNames; empty: it was not lost
	Held   time.Duration // since its acquire was sent
	At     time.Time     // when
}

// Renewal is of one lease.
type Renewal struct {
	Outcome string // renewed, failed, lost
	Err     error  // of a failed one
}

// Undo is of one acquire.
type Undo struct {
	Outcome string // undone, nothing, failed
	Err     error  // of a failed one
}

// Server is of a connection, or of a node.
type Server struct {
	From, To string        // addresses
	Down     time.Duration // for how long there was none
}

// Command is one command that was sent, once.
type Command struct {
	Name     string        // EVALSHA, mostly
	Script   string        // that it ran
	Server   string        // its address
	Start    time.Time     // before it was written
	Duration time.Duration // until its reply
	Leases   int           // of a renewal
	Undo     bool          // it takes an acquire back
	Database string        // whoever passes the event on knows it
	Err      error         // the server's, or why there was no reply
}
