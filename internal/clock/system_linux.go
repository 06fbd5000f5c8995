package clock

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// step is by how much the wall clock may have moved against Go's monotonic
// clock without CLOCK_BOOTTIME being read: above what lies between two clock
// reads in a row, below anything that a lease is counted in.
const step = 50 * time.Microsecond

// boottime tells CLOCK_BOOTTIME. To read it is a system call, to read the wall
// clock and Go's monotonic clock together is not. A suspend sets the wall clock
// forward as it does CLOCK_BOOTTIME, while the monotonic clock stands still. So
// as long as those two have kept their distance, nothing has happened that only
// CLOCK_BOOTTIME would tell. Whoever sets the clock changes the distance, too,
// and costs one system call. What would go unseen is a clock set back by just
// as much as a suspend took, to 50 µs, with no reading in between.
type boottime struct {
	start    time.Time
	ahead    atomic.Int64 // CLOCK_BOOTTIME less the time since start; suspends make it more, nothing makes it less
	distance atomic.Int64 // wall clock less the time since start, when ahead was read
	mu       sync.Mutex   // held while both are set
	read     func() time.Duration
}

func (c *boottime) Now() time.Duration {
	t := time.Now()
	return c.now(t.Sub(c.start), time.Duration(t.UnixNano()))
}

// now is Now at an instant of the monotonic and the wall clock.
func (c *boottime) now(since, wall time.Duration) time.Duration {
	// In this order: ahead is set first.
	moved := wall - since - time.Duration(c.distance.Load())
	if moved < -step || moved > step {
		return c.ask()
	}
	return time.Duration(c.ahead.Load()) + since
}

// ask reads CLOCK_BOOTTIME and remembers where the others stand.
func (c *boottime) ask() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := time.Now()
	since := t.Sub(c.start)
	// Before the clock is read: a suspend in between shows in the next distance.
	distance := time.Duration(t.UnixNano()) - since
	now := c.read()
	// Read after it, the monotonic clock makes the difference too small rather
	// than too large. The largest is the nearest.
	ahead := max(now-time.Since(c.start), time.Duration(c.ahead.Load()))
	c.ahead.Store(int64(ahead))
	c.distance.Store(int64(distance))
	return now
}

func readBoottime() time.Duration {
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
	return newBoottime(readBoottime)
}

func newBoottime(read func() time.Duration) *boottime {
	c := &boottime{start: time.Now(), read: read}
	c.ask()
	return c
}
