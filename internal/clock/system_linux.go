package clock

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// step is how far the wall clock may move against Go's monotonic clock before
// CLOCK_BOOTTIME is read: more than the time between two clock reads in a row,
// less than any unit in which a lease is counted.
const step = 50 * time.Microsecond

// boottime tells CLOCK_BOOTTIME. Reading that clock is a system call; reading the
// wall clock and Go's monotonic clock together is not. During suspend the wall clock
// advances as CLOCK_BOOTTIME does, while the monotonic clock stands still. So if the
// distance of these two has not changed, there was no suspend. Setting the wall clock
// changes it as well, which costs one system call. A suspend goes unseen only if the
// wall clock is set back by as much, to 50 µs, with no reading in between.
type boottime struct {
	start    time.Time
	ahead    atomic.Int64 // CLOCK_BOOTTIME minus the time since start; suspend makes it grow, it never shrinks
	distance atomic.Int64 // wall clock minus the time since start, when ahead was set
	mu       sync.Mutex   // held while both are set
	read     func() time.Duration
}

func (c *boottime) Now() time.Duration {
	t := time.Now()
	return c.now(t.Sub(c.start), time.Duration(t.UnixNano()))
}

// now is Now for these readings of the monotonic and the wall clock.
func (c *boottime) now(since, wall time.Duration) time.Duration {
	// distance must be loaded before ahead, because ahead is set first.
	moved := wall - since - time.Duration(c.distance.Load())
	if moved < -step || moved > step {
		return c.ask()
	}
	return time.Duration(c.ahead.Load()) + since
}

// ask reads CLOCK_BOOTTIME, and records how far the other clocks are from it.
func (c *boottime) ask() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := time.Now()
	since := t.Sub(c.start)
	// Taken before CLOCK_BOOTTIME is read, so that a suspend in between shows in
	// the next distance.
	distance := time.Duration(t.UnixNano()) - since
	now := c.read()
	// The monotonic clock is read last, so the difference is never too large.
	// The largest difference is the most exact.
	ahead := max(now-time.Since(c.start), time.Duration(c.ahead.Load()))
	c.ahead.Store(int64(ahead))
	c.distance.Store(int64(distance))
	return now
}

func readBoottime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		// System has read this clock before, so the kernel has it. Without
		// it there is no correct answer.
		panic("clock: CLOCK_BOOTTIME: " + err.Error())
	}
	return time.Duration(ts.Nano())
}

// System returns a clock of CLOCK_BOOTTIME, which counts suspend, or Go's monotonic
// clock on a kernel without it.
func System() Clock {
	if c := overridden(); c != nil {
		return c
	}
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return Monotonic()
	}
	return newBoottime(readBoottime)
}

func newBoottime(read func() time.Duration) *boottime {
	c := &boottime{start: time.Now(), read: read}
	c.ask()
	return c
}
