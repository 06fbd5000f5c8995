// Package observe has the events that an observer of a client gets, and the queue for
// those that happen on the client's own goroutines.
//
// A call that acquires or releases keeps its events, and reports them on its caller's
// goroutine when it ends. All other events go through a [Queue], so an observer never
// runs where replies are read or leases are renewed. Without an observer nothing is
// kept, and no clock is read.
package observe

import (
	"context"
	"fmt"
	"time"
)

// Observer gets the events of one client. Its methods are called with no lock held.
// OnPanic is called before all others; its function gets the panics of the user's code.
type Observer interface {
	OnPanic(func(with any))                                 // sets what gets the panics
	Calls() bool                                            // whether Acquire, Release or Released must be called
	Commands() bool                                         // whether Command must be called
	Acquire(ctx context.Context, s Subject) context.Context // begins a call that acquires
	Waiting(ctx context.Context, s Subject, at time.Time)   // the call waited, since at
	Woken(ctx context.Context, s Subject, w Wake)           // the call tried again
	Acquired(ctx context.Context, s Subject, a Acquire)     // ends it
	Release(ctx context.Context, s Subject) context.Context // begins a call of Unlock
	Released(ctx context.Context, s Subject, r Release)     // ends it
	Ended(s Subject, h Hold)                                // a hold is over
	Renewed(s Subject, r Renewal)                           // a renewal of one lease ended
	Failing(s Subject, f Failing)                           // renewals of a lease begin to fail, or work again
	Undone(s Subject, u Undo)                               // the undo of one acquire ended
	Reconnected(s Server)                                   // a connection took the place of another
	NodeChanged(s Server)                                   // slots have another server
	Command(ctx context.Context, c Command)                 // a command was sent
}

// Subject is the lock that an event is about. The owner's text is made only when String
// is called.
type Subject struct {
	Name, Kind string       // as its user gave it; kind.Label's word
	Owner      fmt.Stringer // nil: no owner
}

// How an acquire ends.
const (
	Acquired  = iota // it got what it wanted
	Locked           // it was refused, and may not wait
	Timeout          // its time to wait is over
	Cancelled        // its context ended
	Uncertain        // it may have succeeded
	Failed           // any other error
	Outcomes         // the number of outcomes
)

// OutcomeNames are the names of the outcomes.
var OutcomeNames = [Outcomes]string{"acquired", "locked", "timeout", "cancelled", "uncertain", "error"}

// Why a hold is lost.
const (
	Taken       = iota // the server says that the owner does not hold it
	Expired            // its lease ended, and was not to be renewed
	Unreachable        // no renewal succeeded in time
	Reasons            // the number of reasons
)

// ReasonNames are the names of the reasons.
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
	Attempts  int           // lock scripts sent for it
	Contended bool          // it was refused, or came behind others
	Err       error         // what its caller gets
}

// Release is how a call of Unlock ended.
type Release struct {
	Err    error     // what its caller gets
	Reason string    // of ReasonNames, if the hold was lost before
	LostAt time.Time // when it was lost
}

// Hold is how a hold ended.
type Hold struct {
	End    string        // released, lost, expired
	Reason string        // of ReasonNames; empty: it was not lost
	Held   time.Duration // since its acquire was sent
	At     time.Time     // when
}

// Renewal is how the renewal of one lease ended.
type Renewal struct {
	Outcome string // renewed, failed, lost
	Err     error  // why it failed
}

// Failing is the begin or the end of a time in which renewals of one lease fail.
type Failing struct {
	Err    error         // why they fail; nil: they work again
	Left   time.Duration // how long the lease is still certain
	Lasted time.Duration // how long they failed, if they work again
}

// Undo is how the undo of one acquire ended.
type Undo struct {
	Outcome string // undone, nothing, failed
	Err     error  // why it failed
}

// Server is a change of a connection, or of the node of slots.
type Server struct {
	From, To string        // addresses
	Down     time.Duration // how long there was no connection
}

// Command is one command that was sent, once.
type Command struct {
	Name     string        // EVALSHA, mostly
	Script   string        // the script that it ran
	Server   string        // its address
	Start    time.Time     // before it was written
	Duration time.Duration // until its reply
	Leases   int           // how many it renews
	Undo     bool          // it takes an acquire back
	Database string        // filled in when the event is passed on
	Err      error         // the server's, or why there was no reply
}
