package redisconn

import (
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"
)

// Conn is a dialled connection. It does what a connection of redigo's does, and reads no
// reply that is beyond the bounds of reply.go, which ends it. Beside one goroutine that
// sends and one that receives, any goroutine may interrupt it.
type Conn struct {
	net    net.Conn  // beneath TLS
	conn   net.Conn  // with it
	stream stream    // reads and writes conn
	peers  *sync.Map // those of its target
	place  string

	ended atomic.Pointer[error] // why it was ended from here; nil: it was not

	// Of the goroutine that receives.
	reads int    // of the network, so far
	admit int    // see Admit
	inbox []byte // what has come and was not received yet
	room  []byte // has inbox in it

	receiveGuard *time.Timer

	// Of the goroutine that sends: what is encoded and not written yet.
	timeout    time.Duration // of each write
	unsent     []byte
	arg        []byte
	writeGuard *time.Timer
}

// newConn makes a Conn of c. Its guards end the connection when what they run for takes
// too long, so that c needs no deadlines of its own.
func newConn(beneath, c net.Conn, timeout time.Duration, peers *sync.Map, place string) *Conn {
	conn := &Conn{net: beneath, conn: c, stream: newStream(c), peers: peers, place: place, timeout: timeout}
	for _, guard := range []**time.Timer{&conn.receiveGuard, &conn.writeGuard} {
		*guard = time.AfterFunc(time.Hour, func() { conn.Sever(os.ErrDeadlineExceeded) })
		(*guard).Stop()
	}
	return conn
}

// Interrupt ends every Send, Flush and Receive under way with an error and
// leaves the connection useless; Close must still be called.
func (c *Conn) Interrupt() { c.net.Close() }

// Sever interrupts the connection, and has reads and writes end with cause.
func (c *Conn) Sever(cause error) {
	c.ended.CompareAndSwap(nil, &cause)
	c.Interrupt()
}

// Close ends the connection. TLS has a last word to write.
func (c *Conn) Close() error {
	c.peers.Delete(c)
	c.writeGuard.Reset(c.timeout)
	defer c.writeGuard.Stop()
	return c.conn.Close()
}

// Err tells why the connection was ended from here, or nil.
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

// DoWithTimeout is Do with a bound for the reply; 0 is none.
func (c *Conn) DoWithTimeout(timeout time.Duration, command string, args ...any) (any, error) {
	if err := c.Send(command, args...); err != nil {
		return nil, err
	}
	if err := c.Flush(); err != nil {
		return nil, err
	}
	return c.ReceiveWithTimeout(timeout)
}

// Send is Queue that waits.
func (c *Conn) Send(command string, args ...any) error {
	_, err := c.Queue(command, args, true)
	return err
}

// Flush is Push that waits.
func (c *Conn) Flush() error {
	_, err := c.Push(true)
	return err
}

// Receive waits for a reply. A refusal of the server is an error.
func (c *Conn) Receive() (any, error) { return c.ReceiveWithTimeout(0) }

// ReceiveWithTimeout is Receive with a bound; 0 is none.
func (c *Conn) ReceiveWithTimeout(timeout time.Duration) (reply any, err error) {
	reply, ok, err := c.Next()
	if !ok && timeout > 0 {
		c.receiveGuard.Reset(timeout)
		defer c.receiveGuard.Stop()
	}
	for !ok && err == nil {
		if err = c.Fill(); err == nil {
			reply, ok, err = c.Next()
		}
	}
	return reply, err
}

var _ redis.ConnWithTimeout = (*Conn)(nil)

// Place is what was dialled for a connection: the server's address, or where its
// name led. It is empty for a pool's.
func Place(c redis.Conn) string {
	if dialled, ok := c.(interface{ Place() string }); ok {
		return dialled.Place()
	}
	return ""
}

// Place is that of a dialled connection.
func (c *Conn) Place() string { return c.place }

// Admit has what is read from now on contain bulk strings of up to n bytes, and
// longer arrays, for a read whose answer grows with the server's clients or with
// a cluster; 0 restores the usual bounds. Only the goroutine that reads may call it.
func (c *Conn) Admit(n int) { c.admit = n }

// Reads counts the reads of the network so far: what is received between two equal
// counts had come before the first of it was. Only the goroutine that reads may call it.
func (c *Conn) Reads() int { return c.reads }

// Sever ends every connection of t that is open or being greeted, at once,
// whatever is under way on it: reads end with cause. A Dial that has not
// connected yet is not among them.
func (t *Target) Sever(cause error) {
	for c := range t.open.Range {
		c.(*Conn).Sever(cause)
	}
}
