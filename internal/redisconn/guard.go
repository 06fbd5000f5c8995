package redisconn

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// errMalformed is the end of a reply that is longer than its own lengths say.
var errMalformed = errors.New("hostile reply: it goes on after its end")

// guard checks what a server says before redigo, which believes every length
// (and panics on one that memory can't hold), gets to see it. A reply beyond
// the bounds ends the connection. redigo gets no more than one reply at a time, so
// what has come behind that is here, and not in its buffer.
type guard struct {
	net.Conn
	stream  stream // what Conn reads and writes
	s       scanner
	managed atomic.Bool
	reads   int // of the network, so far; whoever reads has it

	// Of whoever reads, too.
	inbox   []byte // what has come and was not received yet
	room    []byte // has inbox in it
	scanned int    // how much of inbox is within bounds, up to the end of a reply
	whole   bool   // what was scanned ends a reply

	severed atomic.Pointer[error] // why it was ended from outside; nil: it was not

	// Of whoever sends: what is encoded and not written yet.
	timeout time.Duration // of each write
	made    time.Time     // the deadline counts from then
	until   time.Duration // the deadline
	unsent  []byte
	arg     []byte
}

// SetReadDeadline leaves the deadline alone if it is somebody else's business.
func (g *guard) SetReadDeadline(t time.Time) error {
	if g.managed.Load() {
		return nil
	}
	return g.Conn.SetReadDeadline(t)
}

// Read passes on what is within bounds of the reply under way. Once the connection
// is managed all of that has come already.
func (g *guard) Read(p []byte) (int, error) {
	if g.scanned == 0 {
		if g.managed.Load() {
			return 0, errMalformed
		}
		if len(g.inbox) == 0 {
			if _, err := g.fill(g.stream.Read); err != nil {
				return 0, err
			}
		}
		if err := g.scan(); err != nil {
			return 0, err
		}
	}
	n := copy(p, g.inbox[:g.scanned])
	g.inbox = g.inbox[n:]
	g.scanned -= n
	g.whole = g.whole && g.scanned > 0
	return n, nil
}

// Write writes to the network.
func (g *guard) Write(p []byte) (int, error) { return g.stream.Write(p) }

// stream reads and writes the network.
type stream interface {
	io.ReadWriter
	TryRead(p []byte) (n int, err error)  // what is there, without waiting
	TryWrite(p []byte) (n int, err error) // what there is room for, likewise
}

// waits is a stream of which nobody knows what needs no waiting: nothing is tried.
type waits struct{ net.Conn }

// TryRead reads nothing.
func (w waits) TryRead(p []byte) (n int, err error) { return 0, nil }

// TryWrite writes nothing.
func (w waits) TryWrite(p []byte) (n int, err error) { return 0, nil }

const (
	// leastRoom is how much is read at once: some hundred replies to scripts.
	leastRoom = 4 << 10

	// mostRoom is what is kept after a long reply.
	mostRoom = 64 << 10
)

// fill reads the network by receive, and gives how much there is in inbox. Whatever
// comes with bytes, comes again without.
func (g *guard) fill(receive func([]byte) (int, error)) (n int, err error) {
	room := g.room[:cap(g.room)]
	left := copy(room, g.inbox) // a part of a reply, mostly none
	switch {
	case left == len(room):
		room = append(room, make([]byte, max(left, leastRoom))...)
	case left == 0 && len(room) > mostRoom:
		room = make([]byte, leastRoom)
	}
	g.reads++
	n, err = receive(room[left:])
	g.room, g.inbox = room, room[:left+n]
	if n > 0 {
		return left + n, nil
	}
	if cause := g.severed.Load(); cause != nil && err != nil {
		err = *cause // the other is only what that looks like from inside
	}
	return left, err
}

// scan looks at what has come of the reply under way.
func (g *guard) scan() error {
	if g.whole {
		return nil
	}
	n, whole, err := g.s.scan(g.inbox[g.scanned:])
	g.scanned += n
	g.whole = whole
	if err != nil {
		g.Conn.Close()
	}
	return err
}
