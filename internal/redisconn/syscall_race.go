//go:build race && linux && (amd64 || arm64) && !norawsyscall

package redisconn

import "syscall"

// The race detector knows that syscall.Write happens before the syscall.Read of what it
// sent. It does not see raw calls, so an empty call of either sort stands beside each. The
// empty write goes to no file: on the socket it would take the socket's error.

func raceSends()              { _, _ = syscall.Write(-1, nil) }
func raceReceived(fd uintptr) { _, _ = syscall.Read(int(fd), nil) }
