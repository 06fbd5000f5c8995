package redisconn

import (
	"context"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"
)

// Conn is a dialled connection. It does what a redigo connection does, except that a reply
// beyond the bounds of reply.go ends it. One goroutine may send and one may receive at the
// same time. Any goroutine may interrupt it.
type Conn struct {
	net    net.Conn  // the connection without TLS
	conn   net.Conn  // the same with TLS, if in use
	stream stream    // reads and writes conn
	peers  *sync.Map // the open connections of its target
	place  string

	unnamed error // the server's refusal to name it; nil: it has its name

	ended atomic.Pointer[error] // why this client ended it; nil: it did not

	// Used by the goroutine that receives.
	reads int    // reads of the network so far
	admit int    // see Admit
	inbox []byte // bytes that have come and were not received yet
	room  []byte // the buffer that holds inbox

	receiveGuard *time.Timer

	// Used by the goroutine that sends.
	timeout    time.Duration // of each write
	unsent     []byte        // encoded, not written yet
	arg        []byte
	writeGuard *time.Timer
}

// newConn makes a Conn of c. Its guards end the connection when a read or a write takes
// too long, so that c needs no deadlines.
func newConn(beneath, c net.Conn, timeout time.Duration, peers *sync.Map, place string) *Conn {
	conn := &Conn{net: beneath, conn: c, stream: newStream(c), peers: peers, place: place, timeout: timeout}
	for _, guard := range []**time.Timer{&conn.receiveGuard, &conn.writeGuard} {
		*guard = time.AfterFunc(time.Hour, func() { conn.Sever(os.ErrDeadlineExceeded) })
		(*guard).Stop()
	}
	return conn
}

// Unnamed returns the server's refusal to give a connection its name, or nil.
func Unnamed(c redis.Conn) error {
	if own, is := c.(*Conn); is {
		return own.unnamed
	}
	return nil
}

// Interrupt makes every Send, Flush and Receive fail, those in progress and all
// later ones. Close must still be called.
func (c *Conn) Interrupt() { c.net.Close() }

// Sever interrupts the connection, and makes reads and writes fail with cause.
func (c *Conn) Sever(cause error) {
	c.ended.CompareAndSwap(nil, &cause)
	c.Interrupt()
}

// Close ends the connection. With TLS it writes a close alert, within the write timeout.
func (c *Conn) Close() error {
	c.peers.Delete(c)
	c.writeGuard.Reset(c.timeout)
	defer c.writeGuard.Stop()
	return c.conn.Close()
}

// Err tells why this client ended the connection with Sever, or nil.
func (c *Conn) Err() error {
	if cause := c.ended.Load(); cause != nil {
		return *cause
	}
	return nil
}

// Do sends a command and receives its reply.
func (c *Conn) Do(command string, args ...any) (any, error) {
	return c.DoWithTimeout(0, command, args...)
}

// DoWithTimeout is Do with a bound for the reply, as ReceiveWithTimeout has it.
func (c *Conn) DoWithTimeout(timeout time.Duration, command string, args ...any) (any, error) {
	if err := c.Send(command, args...); err != nil {
		return nil, err
	}
	if err := c.Flush(); err != nil {
		return nil, err
	}
	return c.ReceiveWithTimeout(timeout)
}

// Send is Queue that may wait for the network.
func (c *Conn) Send(command string, args ...any) error {
	_, err := c.Queue(command, args, true)
	return err
}

// Flush is Push that may wait for the network.
func (c *Conn) Flush() error {
	_, err := c.Push(true)
	return err
}

// Receive waits for a reply. A refusal of the server is an error.
func (c *Conn) Receive() (any, error) { return c.ReceiveWithTimeout(0) }

// ReceiveWithTimeout is Receive with a bound, after which the connection ends; 0: no bound.
func (c *Conn) ReceiveWithTimeout(timeout time.Duration) (reply any, err error) {
	reply, ok, err := c.Next()
	if !ok && timeout > 0 {
		c.receiveGuard.Reset(timeout)
		defer c.receiveGuard.Stop()
	}
	for !ok && err == nil {
		if _, err = c.Fill(true); err == nil {
			reply, ok, err = c.Next()
		}
	}
	return reply, err
}

var _ redis.ConnWithTimeout = (*Conn)(nil)

// Place is the address that was dialled for a connection: the server's address, or
// the one that its name resolved to. It is empty for a pool's connection.
func Place(c redis.Conn) string {
	if own, is := c.(*Conn); is {
		return own.place
	}
	return ""
}

// Admit allows bulk strings of up to n bytes, and longer arrays, in later replies: for
// answers that grow with the server's clients or with a cluster. Admit(0) restores the
// usual bounds. Only the goroutine that reads may call it.
func (c *Conn) Admit(n int) { c.admit = n }

// Reads counts the reads of the network so far. If the count did not change between
// two receives, the second reply was already here at the first. Only the goroutine
// that reads may call it.
func (c *Conn) Reads() int { return c.reads }

// Sever ends at once every connection of t that is open or being greeted, whatever
// is in flight on it. Reads and writes fail with cause. It cancels each Dial that has
// not connected yet.
func (t *Target) Sever(cause error) {
	for end := range t.dials.Range {
		(*end.(*context.CancelFunc))()
	}
	for c := range t.open.Range {
		c.(*Conn).Sever(cause)
	}
}
