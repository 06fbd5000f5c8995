package watchdog

import "time"

// Result is the outcome of one lease's renewal.
type Result uint8

const (
	// Failed: no answer, or an error. Tried again while trust lasts.
	Failed Result = iota
	// Renewed: the server gave the key a new TTL.
	Renewed
	// NotOwned: the server says that the key is not this owner's. The lease is lost.
	NotOwned
	// Busy: not sent, because another command of the same owner is in flight. Tried again
	// soon.
	Busy
)

// Answer is how one lease's renewal ended. Sent and TTL are for Renewed: when the renewal
// was sent, by the watchdog's Clock, and the TTL that was passed, which may be longer
// than the watchdog's TTL.
type Answer struct {
	Result Result
	Sent   time.Duration
	TTL    time.Duration

	// Err is for Failed: why. Options.Failing gets it, or another error if it is nil.
	Err error

	// Read says, with Renewed, that the key was also read after the renewal, see
	// Options.Look.
	Read bool
}

// RenewFunc starts to renew a batch of 1 to [MaxBatch] leases and returns without waiting
// for the server. It calls answer once for each index of batch, from any goroutine and at
// any time, even before it returns. A lease is not renewed again until its answer has
// come, so a missing answer loses the lease. The function may keep and reorder batch; i
// is the index in the order in which batch came.
type RenewFunc func(batch []*Lease, answer func(i int, a Answer))
