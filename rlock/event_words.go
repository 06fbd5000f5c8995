package rlock

// Kind is the kind of what an event is about.
type Kind string

// The kinds. Each is named after the method that makes its handle; permits are
// those of a PermitSemaphore, a latch is a CountDownLatch.
const (
	KindLock         Kind = "lock"
	KindFair         Kind = "fair"
	KindFenced       Kind = "fenced"
	KindSpin         Kind = "spin"
	KindNonReentrant Kind = "nonreentrant"
	KindRead         Kind = "read"
	KindWrite        Kind = "write"
	KindSemaphore    Kind = "semaphore"
	KindPermits      Kind = "permits"
	KindLatch        Kind = "latch"
)

// WakeSource is what woke a call that waits.
type WakeSource string

// What wakes a call.
const (
	WakeMessage WakeSource = "message" // a release was published
	WakeExpiry  WakeSource = "expiry"  // the other owner's lease should have ended by then
	WakeHandoff WakeSource = "handoff" // another caller of this client unlocked, and passed the lock on
	WakeLook    WakeSource = "look"    // anything else, such as a new subscription
)

// Outcome is how an acquire ended.
type Outcome string

// How an acquire ends.
const (
	OutcomeAcquired  Outcome = "acquired"  // also a latch's Await that found it open
	OutcomeLocked    Outcome = "locked"    // one attempt, as TryLock makes: another owner holds the lock, or too few permits are free
	OutcomeTimeout   Outcome = "timeout"   // the wait, or the deadline of the context, was over
	OutcomeCancelled Outcome = "cancelled" // the context was cancelled
	OutcomeUncertain Outcome = "uncertain" // see ErrUncertain
	OutcomeError     Outcome = "error"     // any other error
)

// End is how a hold ended.
type End string

// How a hold ends.
const (
	EndReleased End = "released"
	EndLost     End = "lost"
	EndExpired  End = "expired" // the time of a Lease or a MaxHold was over, or the client was closed
)

// Reason is why a hold was lost. It is empty if it was not.
type Reason string

// Why a hold is lost.
const (
	ReasonTaken       Reason = "taken"       // the server says that the owner does not hold it
	ReasonExpired     Reason = "expired"     // the time of a Lease or a MaxHold was over
	ReasonUnreachable Reason = "unreachable" // no renewal succeeded in time
)

// RenewalOutcome is how the renewal of one lease ended.
type RenewalOutcome string

// How a renewal ends.
const (
	RenewalRenewed RenewalOutcome = "renewed"
	RenewalFailed  RenewalOutcome = "failed" // the client tries again while there is time
	RenewalLost    RenewalOutcome = "lost"
)

// UndoOutcome is how an undo ended, see [UndoEvent].
type UndoOutcome string

// How an undo ends.
const (
	UndoUndone  UndoOutcome = "undone"  // the acquire had run
	UndoNothing UndoOutcome = "nothing" // it had not
	UndoFailed  UndoOutcome = "failed"
)
