//go:build unix

package redisconn

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
	"time"
)

// pollTime is for how long a reply is asked for before its reader sleeps.
// A Redis on the same machine answers in half of it.
const pollTime = 100 * time.Microsecond

// poller asks a connection again and again for what is about to come, before
// it is left to Go's network poller, where that is quicker: see pollChoice.
// Between two looks all other goroutines have run.
type poller struct {
	conn   net.Conn
	raw    syscall.RawConn
	ask    func(fd uintptr) bool // made once
	choice pollChoice

	// Of the read under way.
	p   []byte
	n   int
	err error
}

// newPoller is nil where c can't be polled. TLS can't, nor can a connection that
// has one of the system's inside: what is read from that may not be what it says.
func newPoller(c net.Conn) *poller {
	if !native(c) {
		return nil
	}
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil
	}
	o := &poller{conn: c, raw: raw}
	o.ask = o.poll
	return o
}

// read reads into p. It polls first; in trials only if that pays. Only trials look at
// the time.
func (o *poller) read(p []byte, try bool) (n int, err error) {
	if try && o.choice.decided == 0 {
		return o.compare(p)
	}
	if try {
		o.choice.decided--
	}
	if !try || o.choice.pays {
		if n, ok, err := o.tryRead(p); ok {
			return n, err
		}
	}
	return o.conn.Read(p)
}

// compare is one read of a trial.
func (o *poller) compare(p []byte) (n int, err error) {
	start := time.Now()
	ok := false
	if o.choice.poll() {
		n, ok, err = o.tryRead(p)
	}
	if !ok {
		n, err = o.conn.Read(p)
	}
	o.choice.took(time.Since(start))
	return n, err
}

// tryRead reads into p if something comes soon. It is not ok if nothing did, and
// then the read is still to be made.
func (o *poller) tryRead(p []byte) (n int, ok bool, err error) {
	o.p = p
	err = o.raw.Read(o.ask)
	o.p = nil
	if err != nil {
		return 0, true, err
	}
	switch {
	case errors.Is(o.err, syscall.EAGAIN):
		return 0, false, nil
	case o.err != nil:
		return 0, true, &net.OpError{Op: "read", Net: o.conn.LocalAddr().Network(), Source: o.conn.LocalAddr(), Addr: o.conn.RemoteAddr(), Err: os.NewSyscallError("read", o.err)}
	case o.n == 0:
		return 0, true, io.EOF
	}
	return o.n, true, nil
}

// poll asks until something is there or pollTime is over. It always reports
// true: nothing is to be waited for.
func (o *poller) poll(fd uintptr) bool {
	var start time.Time
	for i := 0; ; i++ {
		o.n, o.err = syscall.Read(int(fd), o.p)
		if o.err != syscall.EAGAIN && o.err != syscall.EINTR {
			return true
		}
		switch {
		case i == 0:
			start = time.Now()
		case time.Since(start) > pollTime:
			o.err = syscall.EAGAIN
			return true
		}
		runtime.Gosched()
	}
}
