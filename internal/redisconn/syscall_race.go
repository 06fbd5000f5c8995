//go:build race && linux && (amd64 || arm64) && !norawsyscall

package redisconn

import "syscall"

// The race detector knows that syscall.Write happens before the syscall.Read of what it
// sent. It does not see raw calls, so each raw call is paired with an empty call that it
// sees. The empty write goes to no file: on the socket it would consume the socket's error.

func raceSends()              { _, _ = syscall.Write(-1, nil) }
func raceReceived(fd uintptr) { _, _ = syscall.Read(int(fd), nil) }
