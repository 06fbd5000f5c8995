package redisconn

import (
	"net"
	"sync"

	"github.com/gomodule/redigo/redis"
)

// Conn is a dialled connection. Beside redigo's one sender and one receiver,
// any goroutine may interrupt it.
type Conn struct {
	redis.ConnWithTimeout
	net   net.Conn
	guard *guard
	peers *sync.Map // those of its target
	place string
}

// Interrupt ends every Send, Flush and Receive under way with an error and
// leaves the connection useless; Close must still be called.
func (c *Conn) Interrupt() { c.net.Close() }

// Close ends the connection.
func (c *Conn) Close() error {
	c.peers.Delete(c)
	return c.ConnWithTimeout.Close()
}

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
// a cluster; 0 is as ever.
// It is for whoever reads.
func (c *Conn) Admit(n int) { c.guard.s.admit = n }

// Reads counts the reads of the network so far: what is received between two equal
// counts had come before the first of it was. It is for whoever reads.
func (c *Conn) Reads() int { return c.guard.reads }

// Sever ends every connection of t that is open or being greeted, at once,
// whatever is under way on it: reads end with cause. A Dial that has not
// connected yet is not among them.
func (t *Target) Sever(cause error) {
	for c := range t.open.Range {
		c := c.(*Conn)
		c.guard.severed.CompareAndSwap(nil, &cause)
		c.Interrupt()
	}
}
