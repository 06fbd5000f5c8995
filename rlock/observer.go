package rlock

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/observe"
)

// Observer is told what a client does: for counters, histograms and traces. Each field
// is a function for one event, and nil for an event that nobody wants. WithObserver
// gives it to a client.
//
// It is a struct of functions, as net/http/httptrace has one, because a later version
// can add a field without breaking anybody, and an observer of one event is one line.
// An interface with a method an event, as pgx's tracers are, would have to grow by
// further interfaces; a hook that wraps each command, as go-redis's does, sees commands
// and not waits, holds or losses.
//
//   - Acquire and Release are called when a call begins that acquires or unlocks. The
//     context that they return is that of the call's other events; a trace keeps its
//     span in it. The call itself goes on with its caller's context.
//   - Waiting, Woken and Command of such a call, then Acquired or Released, are called
//     when it ends, on the caller's goroutine, each with its own time. So they delay
//     nobody but that caller, whose hold is renewed meanwhile.
//   - All else is called on a goroutine of its own, one event after the other. If 4,096
//     wait for a slow observer, further ones are dropped: Stats.Unobserved counts them.
//
// No lock of the client is held, so an observer may call it, and close it. A panic is caught
// and logged. So is the end of a goroutine, as by t.FailNow: if an observer ends its caller's,
// what that call has acquired is given back. Close waits for the observer for at most a command
// timeout. Functions are called concurrently. Without an observer nothing is allocated for one
// and no clock is read.
type Observer struct {
	// Started is called by Open and New, Closed by the end of Close.
	Started, Closed func(c *Client)

	// Acquire begins a call that acquires, or waits for a latch or for permits. Options
	// that can't be used are refused before.
	Acquire func(ctx context.Context, s Subject) context.Context

	// Waiting says since when it waited for others, if it did; Woken that it tried
	// again then.
	Waiting func(ctx context.Context, s Subject, at time.Time)
	Woken   func(ctx context.Context, s Subject, e WakeEvent)

	// Acquired ends it, whatever the outcome.
	Acquired func(ctx context.Context, s Subject, e AcquireEvent)

	// Release begins a call of Hold.Unlock, and Released ends it.
	Release  func(ctx context.Context, s Subject) context.Context
	Released func(ctx context.Context, s Subject, e ReleaseEvent)

	// Ended says that a hold is over: by its Unlock, or because it was lost.
	Ended func(s Subject, e HoldEvent)

	// Renewed is called for each lease of a renewal, Undone for each acquire whose
	// reply was lost and that was then undone.
	Renewed func(s Subject, e RenewalEvent)
	Undone  func(s Subject, e UndoEvent)

	// Reconnected says that a connection took the place of another one, NodeChanged
	// that locks have another server. A cluster's failover may be told in parts.
	Reconnected func(e ServerEvent)
	NodeChanged func(e ServerEvent)

	// Command is called for each command about a lock that reached a server, or may
	// have. Those that a call waited for have its context.
	Command func(ctx context.Context, e CommandEvent)
}

// Subject is the lock that an event is of.
type Subject struct {
	// Name is the name that its handle was made with.
	Name string

	// Kind is lock, fair, fenced, spin, nonreentrant, read, write, semaphore, permits
	// or latch.
	Kind string

	owner fmt.Stringer
}

// Owner is who acquires or holds, as Redis has it. The text is made by this call. It is
// empty where that is not known yet, or nobody owns what is acquired.
func (s Subject) Owner() string {
	if s.owner == nil {
		return ""
	}
	return s.owner.String()
}

// WakeEvent is a wake-up: a call that waits tries again.
type WakeEvent struct {
	// Source is message (a release was published), expiry (the lease of the other owner
	// was to end by then), handoff (another caller of this client unlocked, and passed
	// the lock on) or look (anything else, such as a new subscription).
	Source string
	At     time.Time // when it was
}

// AcquireEvent is how an acquire ended.
type AcquireEvent struct {
	// Outcome is acquired; locked (TryLock: another owner holds it); timeout (the wait,
	// or the deadline of the context, was over); cancelled (the context); uncertain (see
	// ErrUncertain); or error.
	Outcome string

	// Wait is how long the call took, Attempts how often it asked the server.
	Wait     time.Duration
	Attempts int

	// Contended says that it was refused, or came behind others of this client.
	Contended bool
	Err       error // what the caller gets
}

// ReleaseEvent is how a call of Unlock ended.
type ReleaseEvent struct {
	Err error // what the caller gets

	// Reason is as HoldEvent's, and LostAt when the hold was over, if it was lost
	// before.
	Reason string
	LostAt time.Time
}

// HoldEvent is how a hold ended.
type HoldEvent struct {
	// End is released, lost, or expired (a lease that nothing was to renew any more:
	// by Lease, MaxHold or Close).
	End string

	// Reason is, of a hold that was not released, taken (the server says that the owner
	// does not hold it), expired (see End) or unreachable (no renewal came through in
	// time). It is empty where Close ended the hold.
	Reason string

	// Held is how long after its acquire was sent the hold ended.
	Held time.Duration
	At   time.Time // when it ended
}

// RenewalEvent is what became of one lease: renewed, failed (it is tried again while
// there is time) or lost. A failed one has an error.
type RenewalEvent struct {
	Outcome string // the word
	Err     error  // nil unless it failed
}

// UndoEvent is what became of a lost acquire: undone (it had run), nothing (it had not)
// or failed, with an error.
type UndoEvent struct {
	Outcome string // the word
	Err     error  // nil unless it failed
}

// ServerEvent is of a connection, or of the server of some locks. From is empty for a
// connection. Down is for how long there was none although it was needed.
type ServerEvent struct {
	From, To string        // host:port, or the word pool
	Down     time.Duration // 0: it was not missed
}

// CommandEvent is one command as it was sent, once. Its duration is counted from before
// it was written, so with the time in which the server was busy with others.
type CommandEvent struct {
	Name     string        // such as EVALSHA
	Script   string        // of an EVALSHA: such as lock, unlock or renew; else empty
	Server   string        // host:port, or the word pool
	Start    time.Time     // before it was written
	Duration time.Duration // until its reply, or the end of its connection
	Leases   int           // of a renewal: how many; else 0
	Undo     bool          // it takes back an acquire whose reply was lost
	Database string        // the number of the server's database; empty with New
	Err      error         // the server's, or that there was no reply
}

// WithObserver has o told what the client does. It may be given more than once: each
// observer is told, in that order. Default is none, which costs nothing.
func WithObserver(o Observer) Option {
	return func(s *settings) error {
		s.observers = append(s.observers, o)
		return nil
	}
}

// observers is what lockstate tells.
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

// from is each for those from the i-th on.
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

// begun tells the beginning of a call, if anybody wants it, and gives the context of the
// call's other events.
func begun(fn func(context.Context, Subject) context.Context, ctx context.Context, s observe.Subject) context.Context {
	if fn == nil {
		return ctx
	}
	return cmp.Or(fn(ctx, subject(s)), ctx)
}

// tell tells an event of three parts, if anybody wants it.
func tell[A, B, C any](fn func(A, B, C), a A, b B, c C) {
	if fn != nil {
		fn(a, b, c)
	}
}

// tellTwo is tell for an event of two parts, and tellOne for one of one.
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

func (o *observers) Waiting(ctx context.Context, s observe.Subject, at time.Time) {
	o.each(func(one *Observer) { tell(one.Waiting, ctx, subject(s), at) })
}

func (o *observers) Woken(ctx context.Context, s observe.Subject, w observe.Wake) {
	o.each(func(one *Observer) { tell(one.Woken, ctx, subject(s), WakeEvent(w)) })
}

func (o *observers) Acquired(ctx context.Context, s observe.Subject, a observe.Acquire) {
	o.each(func(one *Observer) { tell(one.Acquired, ctx, subject(s), AcquireEvent(a)) })
}

func (o *observers) Released(ctx context.Context, s observe.Subject, r observe.Release) {
	o.each(func(one *Observer) { tell(one.Released, ctx, subject(s), ReleaseEvent(r)) })
}

func (o *observers) Ended(s observe.Subject, h observe.Hold) {
	o.each(func(one *Observer) { tellTwo(one.Ended, subject(s), HoldEvent(h)) })
}

func (o *observers) Renewed(s observe.Subject, r observe.Renewal) {
	o.each(func(one *Observer) { tellTwo(one.Renewed, subject(s), RenewalEvent(r)) })
}

func (o *observers) Undone(s observe.Subject, u observe.Undo) {
	o.each(func(one *Observer) { tellTwo(one.Undone, subject(s), UndoEvent(u)) })
}

func (o *observers) Reconnected(e observe.Server) {
	o.each(func(one *Observer) { tellOne(one.Reconnected, ServerEvent(e)) })
}

func (o *observers) NodeChanged(e observe.Server) {
	o.each(func(one *Observer) { tellOne(one.NodeChanged, ServerEvent(e)) })
}

func (o *observers) Command(ctx context.Context, c observe.Command) {
	c.Database = o.database
	o.each(func(one *Observer) { tellTwo(one.Command, ctx, CommandEvent(c)) })
}

func subject(s observe.Subject) Subject { return Subject{s.Name, s.Kind, s.Owner} }

// started and closed tell of the client.
func (c *Client) started() {
	c.s.Started()
	c.observers.each(func(one *Observer) { tellOne(one.Started, c) })
}

func (c *Client) closed() {
	if c.ended.CompareAndSwap(false, true) { // an observer may close it again
		c.observers.each(func(one *Observer) { tellOne(one.Closed, c) })
	}
}
