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

// socket reads and writes a TCP or Unix connection by system calls that don't wait for
// bytes or for room. If the system allows it, the calls are raw: Go's scheduler does not
// know of them. It has to know of calls that may wait, so that it can give their processor
// to other goroutines. For that, each known call wakes a monitor thread if all goroutines
// slept before, and that thread checks every 20 µs. For a caller that sends a little and
// sleeps until the answer, it takes half of the processor time. The build tag norawsyscall
// leaves all of this out.
//
// Waiting is done in Go's network poller. Deadlines and Close are net.Conn's.
//
// At most one goroutine reads at a time, and at most one writes. A second one gets
// an error: it would mix up what both read or write.
type socket struct {
	conn      net.Conn
	raw       syscall.RawConn
	look, put func(fd uintptr) bool // made once
	peek      func(fd uintptr)      // likewise

	// Of the read in progress.
	reading atomic.Bool
	in      []byte
	n       int
	readErr syscall.Errno // 0: none

	// Of the write in progress.
	writing  atomic.Bool
	waits    bool   // for room
	out      []byte // not written yet
	writeErr syscall.Errno
}

var (
	errTwoReads  = errors.New("two reads of one socket at once")
	errTwoWrites = errors.New("two writes to one socket at once")
)

// newStream returns a socket if c is a TCP or Unix connection itself. A connection that
// wraps one, such as TLS, may send other bytes than it is given, so it gets none.
func newStream(c net.Conn) stream {
	if s, ok := c.(Simulated); ok {
		return s
	}
	if !native(c) {
		return waits{c}
	}
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return waits{c}
	}
	s := &socket{conn: c, raw: raw}
	s.look, s.put = s.lookOnce, s.putAll
	s.peek = func(fd uintptr) { s.lookOnce(fd) }
	return s
}

// ReadSome reads into p, which is not empty. Without wait it ignores deadlines, and returns no
// byte and no error if nothing is there.
func (s *socket) ReadSome(p []byte, wait bool) (n int, err error) {
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

// lookOnce reads once. It reports whether there were bytes, the end or an error.
func (s *socket) lookOnce(fd uintptr) bool {
	s.n, s.readErr = receive(fd, s.in)
	return s.readErr != syscall.EAGAIN
}

// WriteSome writes p. n is how much was written before an error, or without wait.
func (s *socket) WriteSome(p []byte, wait bool) (n int, err error) {
	if !s.writing.CompareAndSwap(false, true) {
		return 0, s.failed("write", errTwoWrites)
	}
	defer s.writing.Store(false)
	s.out, s.waits, s.writeErr = p, wait, 0
	err = s.raw.Write(s.put)
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

// putAll writes what there is room for. It reports whether all is written, an error came, or
// the rest is not to be waited for.
func (s *socket) putAll(fd uintptr) bool {
	for len(s.out) > 0 {
		n, err := send(fd, s.out)
		if s.writeErr = err; err != 0 {
			return err != syscall.EAGAIN || !s.waits
		}
		s.out = s.out[n:]
	}
	return true
}

// failed returns the error that net.Conn would return.
func (s *socket) failed(op string, err error) error {
	if raw, ok := err.(*net.OpError); ok {
		err = raw.Err // raw names another operation
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
