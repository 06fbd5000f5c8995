//go:build unix && !norawsyscall

package redisconn

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
)

// socket reads and writes one of the system's connections by calls that don't wait for
// bytes or for room. Where the system allows it they are raw: Go's scheduler does not
// know of them. It has to know of calls that wait, to take their processor away. For
// that each such call wakes a thread, if all goroutines slept before, which looks every
// 20 µs. For a caller that sends a little and sleeps until the answer, that thread is half
// of the processor time. The build tag norawsyscall leaves all of this out.
//
// What waits, waits in Go's network poller. Deadlines and Close are net.Conn's.
//
// At most one goroutine reads at a time, and at most one writes. A second one gets
// an error: it would mix up what both read or write.
type socket struct {
	conn      net.Conn
	raw       syscall.RawConn
	look, put func(fd uintptr) bool // made once
	try       func(fd uintptr) bool // likewise
	peek      func(fd uintptr)      // likewise

	// Of the read under way.
	reading atomic.Bool
	in      []byte
	n       int
	readErr syscall.Errno // 0: none

	// Of the write under way.
	writing  atomic.Bool
	out      []byte // what is left
	writeErr syscall.Errno
}

var (
	errTwoReads  = errors.New("two reads of one socket at once")
	errTwoWrites = errors.New("two writes to one socket at once")
)

// newStream is a socket, unless c is none, as with TLS. What has one inside may not
// send what it is given as it is.
func newStream(c net.Conn) stream {
	if !native(c) {
		return waits{c}
	}
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return waits{c}
	}
	s := &socket{conn: c, raw: raw}
	s.look, s.put = s.lookOnce, s.putAll
	s.try = func(fd uintptr) bool { s.putAll(fd); return true }
	s.peek = func(fd uintptr) { s.lookOnce(fd) }
	return s
}

// Read waits for something, and reads into p, which has room.
func (s *socket) Read(p []byte) (n int, err error) { return s.read(p, true) }

// TryRead reads into p what is there, and does not wait: no byte and no error if that
// is nothing. It has no deadline.
func (s *socket) TryRead(p []byte) (n int, err error) { return s.read(p, false) }

func (s *socket) read(p []byte, wait bool) (n int, err error) {
	if !s.reading.CompareAndSwap(false, true) {
		return 0, s.failed("read", errTwoReads)
	}
	defer s.reading.Store(false)
	s.in, s.n, s.readErr = p, 0, 0
	if wait {
		err = s.raw.Read(s.look)
	} else {
		err = s.raw.Control(s.peek)
	}
	s.in = nil
	switch {
	case err != nil:
		return 0, s.failed("read", err)
	case s.readErr == syscall.EAGAIN:
		return 0, nil
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
func (s *socket) Write(p []byte) (n int, err error) { return s.write(p, s.put) }

// TryWrite writes as much of p as there is room for, and does not wait.
func (s *socket) TryWrite(p []byte) (n int, err error) { return s.write(p, s.try) }

func (s *socket) write(p []byte, put func(fd uintptr) bool) (n int, err error) {
	if !s.writing.CompareAndSwap(false, true) {
		return 0, s.failed("write", errTwoWrites)
	}
	defer s.writing.Store(false)
	s.out, s.writeErr = p, 0
	err = s.raw.Write(put)
	n = len(p) - len(s.out)
	s.out = nil
	switch {
	case err != nil:
		err = s.failed("write", err)
	case s.writeErr != 0 && s.writeErr != syscall.EAGAIN:
		err = s.failed("write", s.writeErr)
	}
	return n, err
}

// putAll reports whether all is written, or the rest can't be.
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
func (s *socket) failed(op string, err error) error {
	if raw, ok := err.(*net.OpError); ok {
		err = raw.Err // it names another operation
	}
	if errno, ok := err.(syscall.Errno); ok {
		err = os.NewSyscallError(op, errno)
	}
	a := s.conn.LocalAddr()
	return &net.OpError{Op: op, Net: a.Network(), Source: a, Addr: s.conn.RemoteAddr(), Err: err}
}

// ordinary makes one of the calls that net.Conn makes: syscall.Read or syscall.Write.
func ordinary(f func(int, []byte) (int, error), fd uintptr, p []byte) (int, syscall.Errno) {
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
