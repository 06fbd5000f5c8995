// Package machineclock reads the clock that all processes of a machine share, Java's System.nanoTime included, so that
// their times can be put in one order.
package machineclock

import (
	"fmt"

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
