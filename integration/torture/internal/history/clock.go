package history

import (
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// Now reads CLOCK_MONOTONIC in nanoseconds. All processes of a machine read the same.
func Now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(fmt.Sprintf("history: CLOCK_MONOTONIC: %v", err))
	}
	return ts.Nano()
}

// Clock converts the time.Time values of this process, whose monotonic part is of the same clock with another origin.
type Clock struct {
	base time.Time
	at   int64
}

// NewClock measures the origins' distance. What At gives is early by at most what two readings of a clock take.
func NewClock() Clock {
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

// At is t on the clock of Now. t needs its monotonic reading.
func (c Clock) At(t time.Time) int64 { return c.at + int64(t.Sub(c.base)) }
