package watchdog

import (
	"log/slog"
	"time"
)

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

	// RetryEvery is how long after a Failed or Busy answer a renewal is tried
	// again; up to a quarter is added by chance. Default is a thirtieth of
	// TTL, but at least 10 ms and at most 1 s.
	RetryEvery time.Duration

	// MaxSleep is how often the clock is looked at, at least, while any lease
	// lives. Go's timers do not count suspend, so after one they are late by
	// its length, but never by more than this. Default is 1 s.
	MaxSleep time.Duration

	// Group numbers the leases that one command can renew: those whose holders
	// have the same number. It must always give the same for a holder, is called
	// with the watchdog locked, and must not call it. Default is one group of all.
	Group func(Holder) int

	// Logger gets failed renewals at debug level and losses at warning level:
	// ten at once, and then one summary every 30 s, whose suppressed counts
	// those that were logged at debug level only. Default is none.
	Logger *slog.Logger
}
