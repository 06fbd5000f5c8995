//go:build unix

package redisconn

import (
	"io"
	"net"
	"os"
	"syscall"
)

// socket reads and writes one of the system's connections by calls that never wait
// in the kernel, and that Go's scheduler is not told of where the system has such
// calls. It is told of others so that it can take the processor from one that
// waits: each wakes a thread that looks for that every 20 µs, if all goroutines
// slept before. For who sends a little and sleeps for the answer that thread is
// half of what the processor does.
//
// What waits, waits in Go's network poller. Deadlines and Close are net.Conn's.
type socket struct {
	conn      net.Conn
	raw       syscall.RawConn
	look, put func(fd uintptr) bool // made once
	try       func(fd uintptr) bool // likewise
	peek      func(fd uintptr)      // likewise

	// Of the read under way.
	in      []byte
	n       int
	readErr syscall.Errno // 0: none

	// Of the write under way.
	out      []byte // what is left
	writeErr syscall.Errno
}

// newSocket is nil where c is none, as with TLS. What has one inside may not send
// what it is given as it is.
func newSocket(c net.Conn) *socket {
	if !native(c) {
		return nil
	}
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil
	}
	s := &socket{conn: c, raw: raw}
	s.look, s.put = s.lookOnce, s.putAll
	s.try = func(fd uintptr) bool { s.putAll(fd); return true }
	s.peek = func(fd uintptr) { s.lookOnce(fd) }
	return s
}

// Read waits for something, and reads into p, which has room.
func (s *socket) Read(p []byte) (n int, err error) { return s.readBy(s.look, p) }

// TryRead reads into p what is there, and does not wait: no byte and no error if that
// is nothing. It has no deadline.
func (s *socket) TryRead(p []byte) (n int, err error) {
	s.in, s.n, s.readErr = p, 0, 0
	err = s.raw.Control(s.peek)
	s.in = nil
	switch {
	case err != nil:
		return 0, err
	case s.readErr == syscall.EAGAIN:
		return 0, nil
	case s.readErr != 0:
		return 0, s.failed("read", s.readErr)
	case s.n == 0:
		return 0, io.EOF
	}
	return s.n, nil
}

// readBy has ask read once it is called, as RawConn.Read has it.
func (s *socket) readBy(ask func(fd uintptr) bool, p []byte) (n int, err error) {
	s.in, s.n, s.readErr = p, 0, 0
	err = s.raw.Read(ask)
	s.in = nil
	switch {
	case err != nil:
		return 0, err
	case s.readErr == syscall.EAGAIN:
		return 0, s.readErr // ask has given up
	case s.readErr != 0:
		return 0, s.failed("read", s.readErr)
	case s.n == 0:
		return 0, io.EOF
	}
	return s.n, nil
}

// lookOnce reports whether there is something, if only an error.
func (s *socket) lookOnce(fd uintptr) bool {
	s.n, s.readErr = receive(fd, s.in)
	return s.readErr != syscall.EAGAIN
}

// Write writes p, as much of it as n says.
func (s *socket) Write(p []byte) (n int, err error) { return s.writeBy(s.put, p) }

// TryWrite writes as much of p as there is room for, and does not wait.
func (s *socket) TryWrite(p []byte) (n int, err error) { return s.writeBy(s.try, p) }

// writeBy has put write once it is called, as RawConn.Write has it.
func (s *socket) writeBy(put func(fd uintptr) bool, p []byte) (n int, err error) {
	s.out, s.writeErr = p, 0
	err = s.raw.Write(put)
	n = len(p) - len(s.out)
	s.out = nil
	if err == nil && s.writeErr != 0 && s.writeErr != syscall.EAGAIN {
		err = s.failed("write", s.writeErr)
	}
	return n, err
}

// putAll reports whether nothing is left, or nothing of it can be written any more.
func (s *socket) putAll(fd uintptr) bool {
	for len(s.out) > 0 {
		n, err := send(fd, s.out)
		if s.writeErr = err; err != 0 {
			return err != syscall.EAGAIN
		}
		s.out = s.out[n:]
	}
	return true
}

// failed is what net.Conn would say.
func (s *socket) failed(op string, err syscall.Errno) error {
	a := s.conn.LocalAddr()
	return &net.OpError{Op: op, Net: a.Network(), Source: a, Addr: s.conn.RemoteAddr(), Err: os.NewSyscallError(op, err)}
}
