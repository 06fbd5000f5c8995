package main

import (
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
)

// now is an instant on a clock that all processes of the machine share, in nanoseconds.
func now() int64 { return machineclock.Now() }

var clock = machineclock.New()

// instant is t on the shared clock, 0 for the zero time.
func instant(t time.Time) int64 { return clock.At(t) }

const ms = int64(time.Millisecond)
