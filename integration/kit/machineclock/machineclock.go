// Package machineclock reads the clock that all processes of a machine share, Java's System.nanoTime included, so that
// their times can be put in one order.
package machineclock

import (
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// Now reads CLOCK_MONOTONIC in nanoseconds.
func Now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(fmt.Sprintf("machineclock: CLOCK_MONOTONIC: %v", err))
	}
	return ts.Nano()
}

// Clock converts time.Time values of this process. Their monotonic part is of the same clock with another origin.
type Clock struct {
	base time.Time
	at   int64
}

// New measures the distance between the origins. What At returns is early by at most the time of two clock readings.
func New() Clock {
	var c Clock
	least := int64(math.MaxInt64)
	for range 64 {
		before := Now()
		base := time.Now()
		if d := Now() - before; d < least {
			least, c = d, Clock{base, before}
		}
	}
	return c
}

// At is t on the clock of Now; 0 for the zero time. Any other t needs its monotonic reading.
func (c Clock) At(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return c.at + int64(t.Sub(c.base))
}

// Time is the inverse of At.
func (c Clock) Time(at int64) time.Time { return c.base.Add(time.Duration(at - c.at)) }
