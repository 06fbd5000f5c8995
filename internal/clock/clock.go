// Package clock reads the time by which the client decides how long to trust a lease. It also has
// what passes the time: the counters and timers that a client's end waits for ([Gauge], [Timers]),
// pauses, and signals for goroutines.
//
// A lease runs on the server while this machine sleeps, so elapsed time must
// include suspend. Go's monotonic clock stands still during suspend; Linux's
// CLOCK_BOOTTIME does not.
package clock

import "time"

// Clock tells the time elapsed since some origin. Readings of one Clock never go
// back; readings of two Clocks can't be compared. Implementations are safe for
// concurrent use.
type Clock interface {
	// Now is a reading. It includes suspend if the system counts it.
	Now() time.Duration
}

// Never is an instant that no Clock reaches.
const Never = time.Duration(1<<63 - 1)

// Later is t+d for a d of 0 or more, or Never if the sum would overflow.
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

// Monotonic returns Go's monotonic clock, counted from this call. It obeys
// testing/synctest and does not count suspend.
func Monotonic() Clock {
	start := time.Now()
	return Func(func() time.Duration { return time.Since(start) })
}
