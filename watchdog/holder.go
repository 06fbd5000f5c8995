package watchdog

import "errors"

// Why a lease was lost. They are handed to [Holder.LeaseLost] as they are.
var (
	// ErrExpired says that trust ended before a renewal came through. The
	// server may still have the key for a moment, or may never have lost it.
	ErrExpired = errors.New("watchdog: the lease's time ran out")

	// ErrNotOwned says that a renewal was answered "not yours": the key is
	// gone or belongs to somebody else.
	ErrNotOwned = errors.New("watchdog: the server says the lease is not ours")
)

// Holder depends on a Lease. Its methods run on the watchdog's goroutine or on the
// one that delivers a renewal's answer, possibly for several leases at the same time,
// with no lock of the watchdog held. They must not block, since every other lease
// waits behind them, and must not call Watchdog.Close. They may call any method of
// Lease.
type Holder interface {
	// LeaseLost tells that trust ended (ErrExpired) or that the server said
	// "not yours" (ErrNotOwned). It is told at most once for each lease, which
	// is forgotten by then: no renewal of it starts any more.
	LeaseLost(l *Lease, cause error)

	// LeaseAlarm tells that the instant given to [Lease.SetAlarm] has come.
	// The alarm is cleared by then, so it may be set anew from here.
	LeaseAlarm(l *Lease)
}
