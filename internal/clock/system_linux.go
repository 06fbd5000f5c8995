package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

type boottime struct{}

func (boottime) Now() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		// System probed the clock before it handed it out; a kernel that
		// forgets a clock in mid-run leaves no honest answer.
		panic("clock: CLOCK_BOOTTIME: " + err.Error())
	}
	return time.Duration(ts.Nano())
}

// System is CLOCK_BOOTTIME, which counts suspend, or Go's monotonic clock on
// a kernel without it.
func System() Clock {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return Monotonic()
	}
	return boottime{}
}
