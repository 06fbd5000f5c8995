package watchdog

import "time"

// Options are a Watchdog's settings; the zero value of each is its default,
// and so is a value below zero.
type Options struct {
	// TTL is what all renewing leases are leased for; they are renewed every
	// third of it. Default is 30 s, Redisson's lockWatchdogTimeout. Less than
	// a millisecond counts as one.
	TTL time.Duration

	// Clock is what every instant is a reading of. Default is the system's
	// clock that counts suspend.
	Clock Clock

	// Look asks for up to MaxBatch leases whether they are still held, and ends those that
	// are not. It reads their keys, and calls answer once for each, as a RenewFunc does:
	// whether the key was read and changes from then on come by Lease.Changed, or never can.
	// It must not write to batch. Default is to look never.
	Look func(batch []*Lease, answer func(i int, read bool))

	// Idle is called when there was no live lease for a while, by a goroutine that
	// must not be blocked. Default is nothing.
	Idle func()

	// Group numbers the leases that one command can renew: those whose holders
	// have the same number. It must always give the same for a holder, is called
	// with the watchdog locked, and must not call it. Default is one group of all.
	Group func(Holder) int
}
