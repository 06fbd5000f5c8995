package javapeer

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// MonotonicNow reads CLOCK_MONOTONIC in nanoseconds: on Linux the clock of
// Java's System.nanoTime, and so of every [Reply]'s At.
func MonotonicNow() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(fmt.Sprintf("javapeer: CLOCK_MONOTONIC: %v", err))
	}
	return ts.Nano()
}
