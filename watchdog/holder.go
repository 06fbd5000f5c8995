package watchdog

import "errors"

// These are the causes of a loss. [Holder.LeaseLost] gets them unwrapped.
var (
	// ErrExpired says that trust ended before a renewal succeeded. The server may still
	// have the key for a moment, or may never have lost it.
	ErrExpired = errors.New("watchdog: the lease's time ran out")

	// ErrNotOwned says that a renewal was answered "not yours": the key is gone or belongs
	// to another owner.
	ErrNotOwned = errors.New("watchdog: the server says the lease is not ours")
)

// errFailed stands for the error of a renewal that failed without one.
var errFailed = errors.New("watchdog: the renewal failed")

// Holder depends on a Lease. Its methods run on the watchdog's goroutine or on the one
// that delivers a renewal's answer, possibly for several leases at the same time, with no
// lock of the watchdog held. They must not block, since every other lease waits for them,
// and must not call Watchdog.Close. They may call any method of Lease.
type Holder interface {
	// LeaseLost says that trust ended (ErrExpired) or that the server answered "not yours"
	// (ErrNotOwned). It is called at most once for each lease. The lease is forgotten by
	// then: no renewal of it starts again.
	LeaseLost(l *Lease, cause error)

	// LeaseAlarm says that the instant given to [Lease.SetAlarm] has come. The alarm is
	// cleared by then, so this method may set another one.
	LeaseAlarm(l *Lease)
}
