package simnet

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// Native is a Conn that the library takes for a socket of the system: callers write by
// themselves, and a lone one reads its own reply.
type Native struct{ *Conn }

func (Native) Simulated(redisconn.Simulation) {}

// ReadSome is Read or, without wait, TryRead.
func (c Native) ReadSome(p []byte, wait bool) (int, error) {
	if wait {
		return c.Read(p)
	}
	return c.TryRead(p)
}

// WriteSome is Write or, without wait, TryWrite.
func (c Native) WriteSome(p []byte, wait bool) (int, error) {
	if wait {
		return c.Write(p)
	}
	return c.TryWrite(p)
}

var _ redisconn.Simulated = Native{}

// Conn is the client's end of a connection.
type Conn struct {
	w      *World
	ID     int
	host   string
	server *Peer
	local  addr
	remote addr
	link   *Link

	// Guarded by World.Mu.
	up, down pipe
	in       []byte
	end      error // what a read meets behind in; nil: it waits
	wend     error // what a write meets
	closed   bool  // by the client
	gone     bool  // the server has closed it
	vanished bool  // nothing passes any more, in silence
	deadline time.Time
	timer    *time.Timer

	wake  chan struct{} // cap 1
	roomy chan struct{} // cap 1: there may be room
}

var _ net.Conn = (*Conn)(nil)

// Host is the client's host, Server the server's address.
func (c *Conn) Host() string   { return c.host }
func (c *Conn) Server() string { return c.server.Addr }

// Closed tells whether the client has closed it, though its server may not have heard of that.
func (c *Conn) Closed() bool { return c.closed }

type addr string

func (a addr) Network() string { return "tcp" }
func (a addr) String() string  { return string(a) }

func (c *Conn) LocalAddr() net.Addr  { return c.local }
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

var (
	errEOF     = io.EOF
	errReset   = os.NewSyscallError("read", syscall.ECONNRESET)
	errPipe    = os.NewSyscallError("write", syscall.EPIPE)
	errTimeout = os.NewSyscallError("read", syscall.ETIMEDOUT)
)

func (c *Conn) failed(op string, err error) error {
	if err == errEOF {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

func (c *Conn) signal() {
	select {
	case c.roomy <- struct{}{}:
	default:
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// TryRead reads what is there.
func (c *Conn) TryRead(p []byte) (n int, err error) {
	c.w.Mu.Lock()
	defer c.w.Mu.Unlock()
	_, n, err = c.read(p)
	return n, err
}

// read reports whether there was something: bytes, the end, an error.
func (c *Conn) read(p []byte) (some bool, n int, err error) {
	switch {
	case c.closed: // first, as for writes
		return true, 0, c.failed("read", net.ErrClosed)
	case c.w.Paused(c.host):
	case len(c.in) > 0:
		n = copy(p, c.in)
		if c.in = c.in[n:]; len(c.in) == 0 {
			c.in = nil
		}
		return true, n, nil
	case c.end != nil:
		return true, 0, c.failed("read", c.end)
	}
	return false, 0, nil
}

// Read waits for bytes.
func (c *Conn) Read(p []byte) (int, error) {
	for {
		c.w.Mu.Lock()
		if !c.deadline.IsZero() && !time.Now().Before(c.deadline) && !c.w.Paused(c.host) {
			c.w.Mu.Unlock()
			return 0, c.failed("read", os.ErrDeadlineExceeded)
		}
		some, n, err := c.read(p)
		resumed := c.w.paused[c.host]
		c.w.Mu.Unlock()
		if some {
			return n, err
		}
		select {
		case <-c.wake:
		case <-resumed:
		}
	}
}

// Write waits for room, if World.Room is set.
func (c *Conn) Write(p []byte) (int, error) {
	for done := 0; ; {
		n, err := c.TryWrite(p[done:])
		if done += n; err != nil || done == len(p) {
			return done, err
		}
		c.w.Mu.Lock()
		resumed := c.w.paused[c.host]
		c.w.Mu.Unlock()
		select {
		case <-c.roomy:
		case <-resumed:
		}
	}
}

// TryWrite writes what there is room for.
func (c *Conn) TryWrite(p []byte) (int, error) {
	c.w.Mu.Lock()
	defer c.w.Mu.Unlock()
	switch {
	case c.closed: // first, since whoever closes it while its process stands still waits for writers
		return 0, c.failed("write", net.ErrClosed)
	case c.w.Paused(c.host):
		return 0, nil
	case c.wend != nil:
		return 0, c.failed("write", c.wend)
	case c.end != nil: // behind a FIN of the other end, which answers with a reset
		c.w.After(c.w.latency(c.link), func() { c.wend = errPipe })
		return len(p), nil
	}
	if room := c.w.Room; room > 0 {
		p = p[:max(0, min(len(p), room-c.up.bytes))]
	}
	if len(p) > 0 {
		c.up.put(c, chunk{b: append([]byte(nil), p...)})
	}
	return len(p), nil
}

// Close sends what was written, and then the end.
func (c *Conn) Close() error {
	c.w.Mu.Lock()
	defer c.w.Mu.Unlock()
	return c.close()
}

func (c *Conn) close() error {
	if c.closed {
		return c.failed("close", net.ErrClosed)
	}
	c.closed = true
	c.signal()
	if !c.w.Paused(c.host) {
		c.finish()
	}
	return nil
}

// finish sends the end.
func (c *Conn) finish() { c.up.put(c, chunk{then: c.left}) }

// left tells the server that the client is not there any more.
func (c *Conn) left() {
	c.gone = true
	if !c.server.closed {
		c.server.closed = true
		c.server.h.Closed(c.server)
	}
}

// CloseWrite sends the end behind what was written, and goes on reading until the server has closed too.
func (c *Conn) CloseWrite() error {
	c.w.Mu.Lock()
	defer c.w.Mu.Unlock()
	if c.closed || c.wend != nil {
		return c.failed("close", net.ErrClosed)
	}
	c.wend = os.NewSyscallError("write", syscall.EPIPE)
	c.up.put(c, chunk{then: func() {
		if !c.server.closed {
			c.server.h.Closed(c.server)
			c.server.Close()
		}
	}})
	return nil
}

// SetReadDeadline bounds reads.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.w.Mu.Lock()
	defer c.w.Mu.Unlock()
	c.deadline = t
	if c.timer != nil {
		c.timer.Stop()
	}
	if !t.IsZero() {
		c.timer = time.AfterFunc(max(0, time.Until(t)), c.signal)
	}
	return nil
}
func (c *Conn) SetDeadline(t time.Time) error    { return c.SetReadDeadline(t) }
func (c *Conn) SetWriteDeadline(time.Time) error { return nil }
