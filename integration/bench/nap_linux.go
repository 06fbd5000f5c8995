package main

import (
	"syscall"
	"time"
)

// nap sleeps in the kernel: in a process that does nothing else, Go's timers are only exact to a millisecond.
func nap(d time.Duration) {
	ts := syscall.NsecToTimespec(d.Nanoseconds())
	for syscall.Nanosleep(&ts, &ts) == syscall.EINTR {
	}
}
