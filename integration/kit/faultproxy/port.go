package faultproxy

import (
	"net"
	"os"
	"strconv"
	"syscall"
)

// port reserves a TCP port while a proxy refuses connections: a socket is bound to it and never listens. The proxy's
// listener shares the port by SO_REUSEADDR, which net.Listen sets. Without the reservation the system could give the
// port to another listener, such as another test's proxy, and a client that should be refused would reach that one's
// server.
type port struct {
	addr string
	file *os.File
}

// reserve binds to addr, host:port of IPv4; port 0 takes a free one.
func reserve(addr string) (*port, error) {
	at, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return nil, err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	syscall.CloseOnExec(fd)
	p := &port{file: os.NewFile(uintptr(fd), "port")}
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		p.free()
		return nil, os.NewSyscallError("setsockopt", err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: at.Port, Addr: [4]byte(at.IP.To4())}); err != nil {
		p.free()
		return nil, os.NewSyscallError("bind", err)
	}
	bound, err := syscall.Getsockname(fd)
	if err != nil {
		p.free()
		return nil, os.NewSyscallError("getsockname", err)
	}
	p.addr = net.JoinHostPort(at.IP.String(), strconv.Itoa(bound.(*syscall.SockaddrInet4).Port))
	return p, nil
}

func (p *port) free() { p.file.Close() }

// stopListening closes a listener at once. A child process that is just being started may have inherited the socket;
// Close alone would leave it open until the child runs its program.
func stopListening(l net.Listener) {
	if raw, err := l.(*net.TCPListener).SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = syscall.Shutdown(int(fd), syscall.SHUT_RDWR) })
	}
	l.Close()
}
