//go:build linux && (amd64 || arm64)

package redisconn

import (
	"syscall"
	"unsafe"
)

// receive reads what is there. EAGAIN says that nothing is, also on a socket that
// somebody has made a waiting one: a call that waits here would keep the
// processor.
func receive(fd uintptr, p []byte) (int, syscall.Errno) {
	for {
		n, _, err := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), syscall.MSG_DONTWAIT, 0, 0)
		switch err {
		case 0:
			raceReceived(fd)
			return int(n), 0
		case syscall.EINTR:
		default:
			return 0, err
		}
	}
}

// send writes as much as there is room for. EAGAIN says that there is none.
func send(fd uintptr, p []byte) (int, syscall.Errno) {
	raceSends()
	for {
		n, _, err := syscall.RawSyscall6(syscall.SYS_SENDTO, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL, 0, 0)
		switch err {
		case 0:
			return int(n), 0
		case syscall.EINTR:
		default:
			return 0, err
		}
	}
}
