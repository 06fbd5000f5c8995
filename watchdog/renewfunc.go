package watchdog

import "time"

// Result is what became of one lease's renewal.
type Result uint8

const (
	// Failed: no answer, or an error. Tried again while trust lasts.
	Failed Result = iota
	// Renewed: the server set the key's TTL anew.
	Renewed
	// NotOwned: the server says the key is not this owner's. The lease is lost.
	NotOwned
	// Busy: not sent, because something else of the same owner is in flight.
	// Tried again soon.
	Busy
)

// Answer is how one lease's renewal ended. Sent and TTL are for Renewed: when
// the renewal was sent, by the watchdog's Clock, and the TTL that was passed,
// which may be longer than the watchdog's own. Err is for the log.
type Answer struct {
	Result Result // what the server, or the caller, made of it
	Sent   time.Duration
	TTL    time.Duration
	Err    error

	// Read is for Renewed: the key was read after that, see Options.Look.
	Read bool
}

// RenewFunc starts to renew a batch of 1 to [MaxBatch] leases and returns
// without waiting for the server. It calls answer once for each index of
// batch, from any goroutine and at any time, even before it returns. A lease
// is not renewed again until its answer has come, so one that is withheld
// costs the lease. The function may keep and reorder batch; indexes are those
// of the order in which it came.
type RenewFunc func(batch []*Lease, answer func(i int, a Answer))
