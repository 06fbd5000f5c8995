package redisconn

import "time"

const (
	// leastRoom is how much is read at once: some hundred replies to scripts.
	leastRoom = 4 << 10

	// mostRoom is what is kept after a long reply.
	mostRoom = 64 << 10
)

// Manage has replies received by Fill and Next alone from now on, and leaves the
// reads' deadlines to SetReadDeadline. Those that redigo sets before each reply
// have no effect any more. It reports whether a connection whose deadline has
// passed is as good as before, with another one.
func (c *Conn) Manage() (lasts bool) {
	c.guard.poll = newPoller(c.guard.Conn)
	c.guard.managed.Store(true)
	return native(c.guard.Conn)
}

// SetReadDeadline bounds the Fill under way and those that follow, from any
// goroutine.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.guard.Conn.SetReadDeadline(t) }

// Fill waits for the network, and takes what has come, for Next. Where a reply is
// expected soon, it is polled for as long as that pays. An error of the network is
// met again by the next call, unless a deadline was moved meanwhile.
func (c *Conn) Fill(expected bool) error {
	g := c.guard
	room := g.room[:cap(g.room)]
	left := copy(room, g.inbox) // a part of a reply, mostly none
	switch {
	case left == len(room):
		room = append(room, make([]byte, max(left, leastRoom))...)
	case left == 0 && len(room) > mostRoom:
		room = make([]byte, leastRoom)
	}
	var n int
	var err error
	g.reads++
	if expected && g.poll != nil {
		n, err = g.poll.read(room[left:])
	} else {
		n, err = g.Conn.Read(room[left:])
	}
	g.room, g.inbox = room, room[:left+n]
	if n == 0 && err != nil {
		return g.severed.or(err)
	}
	return nil
}

// Next is the next reply of what Fill has taken; a refusal of the server is an
// error. ok is false where none is left that is whole.
func (c *Conn) Next() (reply any, ok bool, err error) {
	g := c.guard
	if g.scanned == 0 {
		if reply, n := plain(g.inbox); n > 0 {
			g.inbox = g.inbox[n:]
			return reply, true, nil
		}
		if len(g.inbox) == 0 {
			return nil, false, nil
		}
	}
	if err := g.scan(); err != nil || !g.whole {
		return nil, false, err
	}
	reply, err = c.stream.Receive()
	return reply, true, err
}

// plain reads the two replies that nearly all scripts give, in one look: nil, and a
// number that is not negative. n is how long it is; 0 if it is another, or not all
// there.
func plain(b []byte) (reply any, n int) {
	const null, digits = "$-1\r\n", 18
	if len(b) >= len(null) && string(b[:len(null)]) == null {
		return nil, len(null)
	}
	if len(b) == 0 || b[0] != ':' {
		return nil, 0
	}
	var number int64
	for i := 1; i <= digits+1 && i+1 < len(b); i++ {
		switch digit := b[i] - '0'; {
		case digit <= 9:
			number = number*10 + int64(digit)
		case b[i] == '\r' && b[i+1] == '\n' && i > 1:
			return number, i + 2
		default:
			return nil, 0
		}
	}
	return nil, 0
}
