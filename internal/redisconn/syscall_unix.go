//go:build unix && !(linux && (amd64 || arm64))

package redisconn

import "syscall"

// receive reads what is there. EAGAIN says that nothing is.
func receive(fd uintptr, p []byte) (int, syscall.Errno) {
	return call(syscall.Read, fd, p)
}

// send writes as much as there is room for. EAGAIN says that there is none.
func send(fd uintptr, p []byte) (int, syscall.Errno) {
	return call(syscall.Write, fd, p)
}

func call(f func(int, []byte) (int, error), fd uintptr, p []byte) (int, syscall.Errno) {
	for {
		n, err := f(int(fd), p)
		switch errno, _ := err.(syscall.Errno); errno {
		case 0:
			return n, 0
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}
