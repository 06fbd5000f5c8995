package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// now is an instant on a clock that all processes of the machine share, in nanoseconds.
func now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(fmt.Sprintf("endurance: CLOCK_MONOTONIC: %v", err))
	}
	return ts.Nano()
}

// origin ties the times of this process, whose monotonic part is of the same clock, to that clock.
var origin = measureOrigin()

type tie struct {
	base time.Time
	at   int64
}

func measureOrigin() (best tie) {
	least := int64(1 << 62)
	for range 64 {
		before := now()
		base := time.Now()
		if d := now() - before; d < least {
			least, best = d, tie{base, before}
		}
	}
	return best
}

// instant is t on the shared clock; t needs its monotonic reading. It is early by at most what two readings of a clock
// take.
func instant(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return origin.at + int64(t.Sub(origin.base))
}

const ms = int64(time.Millisecond)
