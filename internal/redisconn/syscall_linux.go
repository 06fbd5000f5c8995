//go:build linux && (amd64 || arm64) && !norawsyscall

package redisconn

import (
	"syscall"
	"unsafe"
)

// These calls are made without a word to Go's scheduler, so they must not wait for the
// network. MSG_DONTWAIT sees to that, also on a socket that somebody has made a waiting
// one. It does not bound all of a call: the kernel may make it wait for the socket's own
// lock, which it takes itself while it deals with a packet, and for memory.
//
// A sandbox may permit read and write, and not these: then it is those.

// receive reads what is there. EAGAIN says that nothing is.
func receive(fd uintptr, p []byte) (int, syscall.Errno) {
	n, err := raw(syscall.SYS_RECVFROM, syscall.MSG_DONTWAIT, fd, p, syscall.Read)
	if err == 0 {
		raceReceived(fd)
	}
	return n, err
}

// send writes as much as there is room for. EAGAIN says that there is none.
func send(fd uintptr, p []byte) (int, syscall.Errno) {
	raceSends()
	return raw(syscall.SYS_SENDTO, syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL, fd, p, syscall.Write)
}

// raw makes a call, or permitted in its place.
func raw(call, flags, fd uintptr, p []byte, permitted func(int, []byte) (int, error)) (int, syscall.Errno) {
	for {
		n, _, err := syscall.RawSyscall6(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), flags, 0, 0)
		switch err {
		case 0:
			return int(n), 0
		case syscall.EINTR:
		case syscall.EPERM, syscall.ENOSYS:
			return ordinary(permitted, fd, p)
		default:
			return 0, err
		}
	}
}
