package pipeline

import (
	"net"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// arrived waits until the peer's system has what was written. A reply that arrives after the next
// command was sent can't be told from that command's reply.
func arrived(t *testing.T, conn net.Conn) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for left := int32(1); left > 0; time.Sleep(10 * time.Microsecond) {
		if err := raw.Control(func(fd uintptr) {
			if _, _, no := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCOUTQ, uintptr(unsafe.Pointer(&left))); no != 0 {
				left = 0
			}
		}); err != nil {
			return // closed, so the peer has read it
		}
	}
}
