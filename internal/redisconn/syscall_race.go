//go:build race && linux && (amd64 || arm64) && !norawsyscall

package redisconn

import "syscall"

// The race detector takes what syscall.Write sends as before what syscall.Read has
// read. Of raw calls it does not know: an empty one of its own tells it. That to
// write goes to no file, as one to the socket would take the socket's error.

func raceSends()              { _, _ = syscall.Write(-1, nil) }
func raceReceived(fd uintptr) { _, _ = syscall.Read(int(fd), nil) }
