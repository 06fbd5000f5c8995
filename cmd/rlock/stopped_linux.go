package main

import "golang.org/x/sys/unix"

// stopped tells whether the child was stopped since it was last asked.
func stopped(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOHANG, nil)
	return err == nil && info.Signo != 0
}
