package redisconn

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// dated gives deadlines to a connection that may have none, or may refuse them,
// as a channel of SSH does. A read or a write that meets its deadline ends: the
// connection is closed, and to the users of this package it is of no use after that.
// A deadline that passes while none is under way closes nothing.
//
// Its Close is the caller's code, and may wait for a network that stands still. It is
// waited for a moment, and then goes on by itself: whoever breaks a connection off has
// its commands to end.
type dated struct {
	net.Conn
	reads, writes *deadline
	close         sync.Once
	closed        chan struct{} // closed when closeErr is there
	closeErr      error
}

// errClosing is the end of a wait for a Close that goes on.
var errClosing = errors.New("close: the connection's Close goes on")

func newDated(c net.Conn) *dated {
	d := &dated{Conn: c, closed: make(chan struct{})}
	expired := func() { _ = d.Close() } // the read or write says why
	d.reads, d.writes = newDeadline(expired), newDeadline(expired)
	return d
}

// Read reads from the connection. Its error is a timeout once the deadline has
// passed.
func (d *dated) Read(p []byte) (int, error) { return d.reads.bound(d.Conn.Read, p) }

// Write is the same for writing.
func (d *dated) Write(p []byte) (int, error) { return d.writes.bound(d.Conn.Write, p) }

// SetDeadline sets both.
func (d *dated) SetDeadline(t time.Time) error {
	_ = d.reads.set(t)
	return d.writes.set(t)
}

// SetReadDeadline bounds the read under way too.
func (d *dated) SetReadDeadline(t time.Time) error { return d.reads.set(t) }

// SetWriteDeadline bounds the write under way too.
func (d *dated) SetWriteDeadline(t time.Time) error { return d.writes.set(t) }

// Close closes the connection, once.
func (d *dated) Close() error {
	d.close.Do(func() {
		go func() {
			defer close(d.closed)
			d.closeErr = d.Conn.Close()
		}()
	})
	select {
	case <-d.closed:
		return d.closeErr
	case <-time.After(grace):
		return errClosing
	}
}

// deadline is when the calls of one sort expire that are under way. There is one such
// call at a time.
type deadline struct {
	expired func()      // ends the call under way; never changes
	timer   *time.Timer // calls fire; likewise

	mu       sync.Mutex // guards what follows
	at       time.Time  // zero: never
	underWay bool       // a call is
	passed   bool       // a call met it
}

func newDeadline(expired func()) *deadline {
	d := &deadline{expired: expired}
	d.timer = time.AfterFunc(time.Hour, d.fire)
	d.timer.Stop()
	return d
}

// bound is one call.
func (d *deadline) bound(call func([]byte) (int, error), p []byte) (int, error) {
	d.mu.Lock()
	d.underWay = true
	d.start()
	d.mu.Unlock()
	n, err := call(p)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.underWay = false
	d.timer.Stop()
	if err != nil && d.passed {
		err = os.ErrDeadlineExceeded
	}
	return n, err
}

// set never fails.
func (d *deadline) set(at time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = at
	d.start()
	return nil
}

// start has the timer fire when the call under way expires. It is called with mu held.
func (d *deadline) start() {
	switch {
	case !d.underWay || d.passed:
	case d.at.IsZero():
		d.timer.Stop()
	default:
		d.timer.Reset(time.Until(d.at))
	}
}

// fire is called by the timer, perhaps by one that was set anew meanwhile.
func (d *deadline) fire() {
	d.mu.Lock()
	over := d.underWay && !d.passed && !d.at.IsZero() && !time.Now().Before(d.at)
	d.passed = d.passed || over
	d.mu.Unlock()
	if over {
		d.expired()
	}
}
