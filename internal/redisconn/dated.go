package redisconn

import (
	"net"
	"os"
	"sync"
	"time"
)

// dated gives deadlines to a connection that may have none, or may refuse them,
// as a channel of SSH does. When one has passed the connection is closed: to the
// users of this package no connection is of use after that.
type dated struct {
	net.Conn
	reads, writes deadline
}

func newDated(c net.Conn) *dated {
	d := &dated{Conn: c}
	d.reads.expired = func() { _ = c.Close() } // the read or write says why
	d.writes.expired = d.reads.expired
	return d
}

// Read reads from the connection. Its error is a timeout once the deadline has
// passed.
func (d *dated) Read(p []byte) (int, error) {
	n, err := d.Conn.Read(p)
	return n, d.reads.or(err)
}

// Write is the same for writing.
func (d *dated) Write(p []byte) (int, error) {
	n, err := d.Conn.Write(p)
	return n, d.writes.or(err)
}

// SetDeadline sets both.
func (d *dated) SetDeadline(t time.Time) error {
	d.reads.set(t)
	d.writes.set(t)
	return nil
}

// SetReadDeadline bounds the read under way too.
func (d *dated) SetReadDeadline(t time.Time) error {
	d.reads.set(t)
	return nil
}

// SetWriteDeadline bounds the write under way too.
func (d *dated) SetWriteDeadline(t time.Time) error {
	d.writes.set(t)
	return nil
}

// Close closes the connection.
func (d *dated) Close() error {
	d.reads.end()
	d.writes.end()
	return d.Conn.Close()
}

// deadline is a time at which something expires, unless it is set anew before.
type deadline struct {
	expired func() // never changes

	mu     sync.Mutex // guards what follows
	at     time.Time  // zero: never
	timer  *time.Timer
	passed bool
	ended  bool
}

func (d *deadline) set(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended || d.passed {
		return
	}
	d.at = at
	switch {
	case at.IsZero():
		if d.timer != nil {
			d.timer.Stop()
		}
	case d.timer == nil:
		d.timer = time.AfterFunc(time.Until(at), d.fire)
	default:
		d.timer.Reset(time.Until(at))
	}
}

// fire is called by the timer, perhaps by one that was set anew meanwhile.
func (d *deadline) fire() {
	d.mu.Lock()
	over := !d.ended && !d.passed && !d.at.IsZero() && !time.Now().Before(d.at)
	d.passed = d.passed || over
	d.mu.Unlock()
	if over {
		d.expired()
	}
}

// end sees that nothing expires any more.
func (d *deadline) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	if d.timer != nil {
		d.timer.Stop()
	}
}

// or gives a timeout in the place of err, if that is what it comes of.
func (d *deadline) or(err error) error {
	if err == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.passed {
		return os.ErrDeadlineExceeded
	}
	return err
}
