//go:build unix && !norawsyscall && !(linux && (amd64 || arm64))

package redisconn

import "syscall"

// receive reads what is there. EAGAIN says that nothing is.
func receive(fd uintptr, p []byte) (int, syscall.Errno) { return ordinary(syscall.Read, fd, p) }

// send writes as much as there is room for. EAGAIN says that there is none.
func send(fd uintptr, p []byte) (int, syscall.Errno) { return ordinary(syscall.Write, fd, p) }
