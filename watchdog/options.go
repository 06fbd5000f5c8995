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

	// Group numbers the leases that one command can renew: those whose holders
	// have the same number. It must always give the same for a holder, is called
	// with the watchdog locked, and must not call it. Default is one group of all.
	Group func(Holder) int
}
