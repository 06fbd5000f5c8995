//go:build linux && (amd64 || arm64) && !norawsyscall

package redisconn

import (
	"syscall"
	"unsafe"
)

// Go's scheduler does not know of these calls, so they must not wait for the network.
// MSG_DONTWAIT ensures that, even on a socket that was set to blocking mode. A call may
// still wait inside the kernel: for the socket's lock, which the kernel holds while it
// handles a packet, and for memory.
//
// If a sandbox permits read and write but not these calls, read and write are used.

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

// raw makes a raw call, or calls permitted if a sandbox forbids it.
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
