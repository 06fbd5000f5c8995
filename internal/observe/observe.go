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
	Calls() bool                                            // whether Acquire, Release and the events Released must be told
	Commands() bool                                         // whether Commands must be told
	Acquire(ctx context.Context, s Subject) context.Context // begins a call that acquires
	Release(ctx context.Context, s Subject) context.Context // begins a call of Unlock
	Tell(Event)                                             // takes any other event
}

// Occasion is what an event is.
type Occasion uint8

// The comments name the fields that an event has besides those of its call and of its lock.
const (
	CallWaited   Occasion = iota // a call waited, since At
	CallWoken                    // it tried again: How, a source, and At
	CallAcquired                 // it has ended: How, of OutcomeNames, Took, Attempts, Contended, Err
	CallReleased                 // a call of Unlock has ended: Err and, if the hold was lost before, Reason and At
	HoldEnded                    // released, lost or expired: How, Reason if it was lost, Took since its acquire was sent, At
	LeaseRenewed                 // or failed, or lost: How, Err
	LeaseFailing                 // renewals begin to fail: Err, Left; or work again: Took
	Undone                       // the undo of one acquire has ended, as undone, nothing or failed: How, Err
	Reconnected                  // a connection took the place of another: To, Took without one
	NodeChanged                  // slots have another server: From, To
	CommandSent                  // Command
)

// Event is one thing that happened.
type Event struct {
	Of      Occasion
	Ctx     context.Context // of the call that it is part of, as Acquire or Release returned it; else nil
	Subject                 // the lock that it is about, if there is one
	Command Command         // of CommandSent

	At        time.Time     // when
	How       string        // how it went
	Reason    string        // of ReasonNames: why a hold was lost
	Err       error         // why it failed; of a call, what its caller gets
	Took      time.Duration // how long it lasted
	Left      time.Duration // how long a lease is still certain
	Attempts  int           // lock scripts that were sent for a call
	Contended bool          // the call was refused, or came behind others
	From, To  string        // addresses
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
