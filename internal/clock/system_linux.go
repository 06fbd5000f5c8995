package clock

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// boottime reads CLOCK_BOOTTIME, which is a system call, and remembers by how
// much it is ahead of Go's monotonic clock, which is read without one. Every
// suspend makes that more and nothing makes it less.
type boottime struct {
	start time.Time
	ahead atomic.Int64
}

func (c *boottime) Now() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		// System probed the clock before it handed it out; a kernel that
		// forgets a clock in mid-run leaves no honest answer.
		panic("clock: CLOCK_BOOTTIME: " + err.Error())
	}
	now := time.Duration(ts.Nano())
	// Read after it, the monotonic clock makes the difference too small rather
	// than too large.
	c.ahead.Store(int64(now - time.Since(c.start)))
	return now
}

// Early is Now as far as it is known without asking: late by whatever suspends
// there were since the last Now.
func (c *boottime) Early() time.Duration {
	return time.Duration(c.ahead.Load()) + time.Since(c.start)
}

// System is CLOCK_BOOTTIME, which counts suspend, or Go's monotonic clock on
// a kernel without it.
func System() Clock {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return Monotonic()
	}
	c := &boottime{start: time.Now()}
	c.Now()
	return c
}
