// Package observe has what an observer of a client is told, and the queue by which it
// is told of what happens on the client's own goroutines.
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

// Observer is told the events of one client. Its methods are called with no lock held.
// A panic of the user's code goes to what OnPanic was given, before all else.
type Observer interface {
	OnPanic(func(with any))
	Acquire(ctx context.Context, s Subject) context.Context
	Waiting(ctx context.Context, s Subject, at time.Time)
	Woken(ctx context.Context, s Subject, w Wake)
	Acquired(ctx context.Context, s Subject, a Acquire)
	Release(ctx context.Context, s Subject) context.Context
	Released(ctx context.Context, s Subject, r Release)
	Ended(s Subject, h Hold)
	Renewed(s Subject, r Renewal)
	Undone(s Subject, u Undo)
	Reconnected(s Server)
	NodeChanged(s Server)
	Command(ctx context.Context, c Command)
}

// Subject is the lock that an event is of. The text of the owner is made when it is
// asked for; nil: nobody's.
type Subject struct {
	Name, Kind string
	Owner      fmt.Stringer
}

// How an acquire ends.
const (
	Acquired = iota
	Locked
	Timeout
	Cancelled
	Uncertain
	Failed
	Outcomes // how many there are
)

// OutcomeNames are the words for them.
var OutcomeNames = [Outcomes]string{"acquired", "locked", "timeout", "cancelled", "uncertain", "error"}

// Why a hold is lost.
const (
	Taken = iota
	Expired
	Unreachable
	Reasons // how many there are
)

// ReasonNames are the words for them.
var ReasonNames = [Reasons]string{"taken", "expired", "unreachable"}

// Wake is one wake-up.
type Wake struct {
	Source string
	At     time.Time
}

// Acquire is how an acquire ended.
type Acquire struct {
	Outcome   string
	Wait      time.Duration
	Attempts  int
	Contended bool
	Err       error
}

// Release is how a call of Unlock ended.
type Release struct {
	Err    error
	Reason string
	LostAt time.Time
}

// Hold is how a hold ended.
type Hold struct {
	End    string
	Reason string
	Held   time.Duration
	At     time.Time
}

// Renewal is of one lease.
type Renewal struct {
	Outcome string
	Err     error
}

// Undo is of one acquire.
type Undo struct {
	Outcome string
	Err     error
}

// Server is of a connection, or of a node.
type Server struct {
	From, To string
	Down     time.Duration
}

// Command is one command that was sent, once.
type Command struct {
	Name     string
	Server   string
	Start    time.Time
	Duration time.Duration
	Leases   int
	Err      error
}
