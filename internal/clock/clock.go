// Package clock reads the time that trust in a lease is counted by.
//
// A lease runs on the server while this machine sleeps, so elapsed time must
// include suspend. Go's monotonic clock stands still there; Linux offers
// CLOCK_BOOTTIME, which does not.
package clock

import "time"

// Clock tells the time elapsed since an origin of its own. Readings of one
// Clock never go back; readings of two Clocks have nothing to do with each
// other. Implementations are safe for concurrent use.
type Clock interface {
	// Now is a reading, suspend included where the system can tell.
	Now() time.Duration
}

// Never is an instant that no Clock reaches.
const Never = time.Duration(1<<63 - 1)

// Later is t+d for a d of 0 or more; what would overflow is Never.
func Later(t, d time.Duration) time.Duration {
	if t > Never-d {
		return Never
	}
	return t + d
}

// Func makes a Clock of a function, for tests.
type Func func() time.Duration

// Now calls f.
func (f Func) Now() time.Duration { return f() }

// Monotonic is Go's own monotonic clock, counted from start. It obeys
// testing/synctest and does not count suspend.
func Monotonic() Clock {
	start := time.Now()
	return Func(func() time.Duration { return time.Since(start) })
}
