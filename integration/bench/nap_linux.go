package main

import (
	"syscall"
	"time"
)

// nap sleeps in the kernel: Go's timers are a millisecond rough in a process that does nothing else.
func nap(d time.Duration) {
	ts := syscall.NsecToTimespec(d.Nanoseconds())
	for syscall.Nanosleep(&ts, &ts) == syscall.EINTR {
	}
}
