package rlock

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/observe"
)

// Observer gets the events of a client, for counters, histograms and traces. Each field
// is a function for one event; leave it nil if you don't need the event. WithObserver
// gives an observer to a client.
//
// It is a struct of functions, as in net/http/httptrace. So a later version can add a
// field without breaking programs, and an observer of one event is one line. Interfaces
// with a method for each event, like pgx's tracers, would need a new interface for a new
// event. A hook that wraps each command, like go-redis's, sees commands but no waits,
// holds or losses.
//
//   - Acquire and Release are called when a call that acquires or unlocks begins. The
//     call's other events get the context that they return; a tracer keeps its span in
//     it. The call itself goes on with its caller's context.
//   - Waiting, Woken and Command of such a call, then Acquired or Released, are called
//     when it ends, on the caller's goroutine, each with its own time. So they delay only
//     that caller, and the watchdog renews its hold meanwhile.
//   - Started and Closed are called on the goroutine of Open, New, Close or Shutdown.
//     All others are called on a separate goroutine, one event after the other. If 4,096
//     events wait for a slow observer, the client drops further ones: Stats.Unobserved
//     counts them.
//
// An observer may call the client, and close it: none of the client's mutexes is held. The client
// catches and logs a panic, and also a Goexit, such as that of t.FailNow. If an observer ends its
// caller's goroutine by that, the client gives back what that call acquired, releases what it was
// to release, and is closed if that call was Open or New. Close waits for the observer for at most
// a command timeout. Functions are called concurrently. Without an observer
// the client allocates nothing for one, and reads no clock.
type Observer struct {
	// Started is called by Open and New, Closed by the end of Close.
	Started, Closed func(c *Client)

	// Acquire is called when a call begins to acquire, or to wait for a latch or for
	// permits. A call with an option that can't be used fails before that.
	Acquire func(ctx context.Context, s Subject) context.Context

	// Waiting is called if the call waited for others, with the time when that began;
	// Woken each time that it tried again.
	Waiting func(ctx context.Context, s Subject, at time.Time)
	Woken   func(ctx context.Context, s Subject, e WakeEvent)

	// Acquired is called when the call ends, whatever the outcome.
	Acquired func(ctx context.Context, s Subject, e AcquireEvent)

	// Release is called when a Hold.Unlock begins, Released when it ends.
	Release  func(ctx context.Context, s Subject) context.Context
	Released func(ctx context.Context, s Subject, e ReleaseEvent)

	// Ended is called when a hold is over: by its Unlock or Close, or because it was lost.
	Ended func(s Subject, e HoldEvent)

	// Renewed is called for each lease of a renewal, Undone for each acquire whose
	// reply was lost and that was then undone.
	Renewed func(s Subject, e RenewalEvent)
	Undone  func(s Subject, e UndoEvent)

	// Failing is called when renewals of a lease begin to fail, while its holds are still
	// valid, and again when a renewal succeeds: at the beginning and the end of each such
	// time, or once if the hold ends during it. Subject.Owner returns the owner of the
	// lease.
	Failing func(s Subject, e FailingEvent)

	// Reconnected is called when a connection has replaced another one, NodeChanged when
	// locks have another server. A cluster's failover may come as several events.
	Reconnected func(e ServerEvent)
	NodeChanged func(e ServerEvent)

	// Command is called for each command about a lock that reached a server, or may
	// have. Commands that a call waited for get that call's context.
	Command func(ctx context.Context, e CommandEvent)
}

// Subject is the lock that an event is about.
type Subject struct {
	// Name is the name that its handle was made with.
	Name string

	Kind Kind

	owner fmt.Stringer
}

// Owner returns the owner that acquires or holds, as Redis stores it. Each call formats the
// text. It is empty if the owner is not known yet. For a Semaphore or a latch, which nobody owns,
// it only tells one call from another.
func (s Subject) Owner() string {
	if s.owner == nil {
		return ""
	}
	return s.owner.String()
}

// WakeEvent is a wake-up: a call that waits tries again.
type WakeEvent struct {
	Source WakeSource
	At     time.Time // of the wake-up
}

// AcquireEvent is how an acquire ended.
type AcquireEvent struct {
	Outcome Outcome

	// Wait is how long the call took, Attempts how often it asked the server.
	Wait     time.Duration
	Attempts int

	// Contended says that the call was refused at least once, or queued behind others here.
	Contended bool
	Err       error // what the call returns, without the words in front that name call and lock
}

// ReleaseEvent is how a call of Unlock ended.
type ReleaseEvent struct {
	Err error // what the call returns, without the words in front that name call and lock

	// If the hold was lost before, these are why, and when it ended.
	Reason Reason
	LostAt time.Time
}

// HoldEvent is how a hold ended.
type HoldEvent struct {
	End End

	// Reason says why a hold ended that was not released. It is empty if Close ended it, whose
	// End is EndExpired.
	Reason Reason

	// Held is the time from sending the acquire to the end of the hold.
	Held time.Duration
	At   time.Time // when it ended
}

// RenewalEvent is how the renewal of one lease ended.
type RenewalEvent struct {
	Outcome RenewalOutcome
	Err     error // nil unless it failed
}

// FailingEvent says that renewals of a lease have begun to fail, or that they work again.
type FailingEvent struct {
	Err    error         // why they fail; nil: they work again
	Left   time.Duration // how long the client may still rely on the lease
	Lasted time.Duration // how long they failed, if they work again
}

// UndoEvent says how an undo ended. An undo takes back an acquire whose reply
// was lost.
type UndoEvent struct {
	Outcome UndoOutcome
	Err     error // nil unless it failed
}

// ServerEvent is about a connection, or the server of some locks. From is empty for a
// connection. Down is how long a connection was needed and there was none.
type ServerEvent struct {
	From, To string        // host:port, or the word pool
	Down     time.Duration // 0: none was needed
}

// CommandEvent is one sending of a command. Its duration counts from before the command
// was written, so it includes the time in which the server was busy with others.
type CommandEvent struct {
	Name     string        // such as EVALSHA
	Script   string        // of an EVALSHA: such as lock, renew, or the unlock's form (unlock_to; unlock for a marked owner); else empty
	Server   string        // host:port, or the word pool
	Start    time.Time     // before it was written
	Duration time.Duration // until its reply, or the end of its connection
	Leases   int           // how many a renewal has; else 0
	Undo     bool          // it undoes an acquire whose reply was lost
	Database string        // the number of the server's database; empty with New
	Err      error         // the server's error, or why there was no reply
}

// WithObserver makes the client call o for its events. It may be given more than once:
// each event goes to all observers, in that order. Default is none, which costs nothing.
func WithObserver(o Observer) Option {
	return func(s *settings) error {
		s.observers = append(s.observers, o)
		return nil
	}
}

// observers passes a client's events on to all observers.
type observers struct {
	all      []Observer
	database string // of Open's URL
	panicked func(with any)
}

func (o *observers) Calls() bool {
	return slices.ContainsFunc(o.all, func(one Observer) bool {
		return one.Acquire != nil || one.Release != nil || one.Released != nil
	})
}

func (o *observers) Commands() bool {
	return slices.ContainsFunc(o.all, func(one Observer) bool { return one.Command != nil })
}

func (o *observers) OnPanic(fn func(with any)) { o.panicked = fn }

// each calls fn with each observer. If one panics or ends its goroutine, the others are
// called all the same.
func (o *observers) each(fn func(*Observer)) { o.from(0, fn) }

// from is each, beginning with the i-th observer.
func (o *observers) from(i int, fn func(*Observer)) {
	if i == len(o.all) {
		return
	}
	returned := false
	defer func() {
		if p := recover(); p != nil {
			o.panicked(p)
		} else if !returned {
			o.panicked("it ended its goroutine")
		}
		o.from(i+1, fn)
	}()
	fn(&o.all[i])
	returned = true
}

func (o *observers) Acquire(ctx context.Context, s observe.Subject) context.Context {
	o.each(func(one *Observer) { ctx = begun(one.Acquire, ctx, s) })
	return ctx
}

func (o *observers) Release(ctx context.Context, s observe.Subject) context.Context {
	o.each(func(one *Observer) { ctx = begun(one.Release, ctx, s) })
	return ctx
}

// begun calls fn, unless it is nil, and returns the context for the call's other events.
func begun(fn func(context.Context, Subject) context.Context, ctx context.Context, s observe.Subject) context.Context {
	if fn == nil {
		return ctx
	}
	return cmp.Or(fn(ctx, subject(s)), ctx)
}

// tell calls fn, unless it is nil.
func tell[A, B, C any](fn func(A, B, C), a A, b B, c C) {
	if fn != nil {
		fn(a, b, c)
	}
}

// tellTwo is tell for two arguments, and tellOne for one.
func tellTwo[A, B any](fn func(A, B), a A, b B) {
	if fn != nil {
		fn(a, b)
	}
}

func tellOne[A any](fn func(A), a A) {
	if fn != nil {
		fn(a)
	}
}

// Tell passes an event on.
func (o *observers) Tell(e observe.Event) {
	s, ctx := subject(e.Subject), e.Ctx
	e.Command.Database = o.database
	o.each(func(one *Observer) {
		switch e.Of {
		case observe.CallWaited:
			tell(one.Waiting, ctx, s, e.At)
		case observe.CallWoken:
			tell(one.Woken, ctx, s, WakeEvent{WakeSource(e.How), e.At})
		case observe.CallAcquired:
			tell(one.Acquired, ctx, s, AcquireEvent{Outcome(e.How), e.Took, e.Attempts, e.Contended, e.Err})
		case observe.CallReleased:
			tell(one.Released, ctx, s, ReleaseEvent{e.Err, Reason(e.Reason), e.At})
		case observe.HoldEnded:
			tellTwo(one.Ended, s, HoldEvent{End(e.How), Reason(e.Reason), e.Took, e.At})
		case observe.LeaseRenewed:
			tellTwo(one.Renewed, s, RenewalEvent{RenewalOutcome(e.How), e.Err})
		case observe.LeaseFailing:
			tellTwo(one.Failing, s, FailingEvent{e.Err, e.Left, e.Took})
		case observe.Undone:
			tellTwo(one.Undone, s, UndoEvent{UndoOutcome(e.How), e.Err})
		case observe.Reconnected:
			tellOne(one.Reconnected, ServerEvent{e.From, e.To, e.Took})
		case observe.NodeChanged:
			tellOne(one.NodeChanged, ServerEvent{e.From, e.To, e.Took})
		case observe.CommandSent:
			tellTwo(one.Command, ctx, CommandEvent(e.Command))
		}
	})
}

func subject(s observe.Subject) Subject { return Subject{s.Name, Kind(s.Kind), s.Owner} }

// started and closed call the observers' Started and Closed.
func (c *Client) started() {
	c.s.Started()
	returned := false
	defer func() {
		c.begun.Store(true)
		// An observer ended the goroutine, so nobody gets the client; or one has closed it, and the
		// others hear of that now.
		if !returned || c.s.Closed() {
			c.Close()
		}
	}()
	c.observers.each(func(one *Observer) { tellOne(one.Started, c) })
	returned = true
}

func (c *Client) closed() {
	if c.begun.Load() && c.ended.CompareAndSwap(false, true) { // an observer may close it again
		c.observers.each(func(one *Observer) { tellOne(one.Closed, c) })
	}
}
