package watchdog

import "time"

// Options are a Watchdog's settings. The zero value of each is its default, and so is a
// negative value.
type Options struct {
	// TTL is the TTL of all renewing leases; they are renewed every third of it. Default
	// is 30 s, Redisson's lockWatchdogTimeout. Less than a millisecond counts as one.
	TTL time.Duration

	// Clock gives every instant that the watchdog uses. Default is the system's clock that
	// counts suspend.
	Clock Clock

	// Look asks the server whether up to MaxBatch leases are still held, and ends those
	// that are not ([Lease.Disown]). It reads their keys, and calls answer once for each,
	// as a RenewFunc does. read says that the key was read. Later changes are then
	// reported by Lease.Changed, unless the server reports none at all. Look must not
	// write to batch. Default is no looks.
	Look func(batch []*Lease, answer func(i int, read bool))

	// Failing is called when renewals of a renewing lease begin to fail, with the Answer's
	// error, and with nil when one succeeds again. Between the two it is not called, and not
	// at all when the lease ends. It is called as a Holder's methods are, and must not block
	// either. Default is no call.
	Failing func(l *Lease, err error)

	// Idle is called when the watchdog's goroutine ends: up to a second after the last
	// live lease, or because of Close. It must not block. Default is no call.
	Idle func()

	// Group numbers the leases that one command can renew: those whose holders have the
	// same number. It must always return the same number for a holder. It is called with
	// the watchdog locked, and must not call it. Default is one group of all.
	Group func(Holder) int
}
