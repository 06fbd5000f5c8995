package redisconn

import (
	"errors"
	"time"
)

const (
	// leastRoom is how much is read at once: some hundred replies to scripts.
	leastRoom = 4 << 10

	// mostRoom is what is kept after a long reply.
	mostRoom = 64 << 10
)

// ErrUnasked is a reply without a command. Later replies can't be matched to their commands.
var ErrUnasked = errors.New("a reply to nothing")

// SetReadDeadline bounds the Fill under way and those that follow, from any
// goroutine. It is for a connection that WritesAtOnce: another may know no deadlines.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.conn.SetReadDeadline(t) }

// Fill waits for the network, and takes what has come, for Next. An error of the network is
// met again by the next call, unless a deadline was moved meanwhile.
func (c *Conn) Fill() error {
	_, err := c.fill(c.stream.Read)
	return err
}

// TryFill is Fill without waiting and without a deadline. It reports whether Next may have
// something. It is for a connection that WritesAtOnce.
func (c *Conn) TryFill() (some bool, err error) { return c.fill(c.stream.TryRead) }

// fill reads the network by receive, and tells whether there is something in inbox.
// Whatever comes with bytes, comes again without.
func (c *Conn) fill(receive func([]byte) (int, error)) (some bool, err error) {
	room := c.room[:cap(c.room)]
	left := copy(room, c.inbox) // a part of a reply, mostly none
	switch {
	case left == len(room):
		room = append(room, make([]byte, max(left, leastRoom))...)
	case left == 0 && len(room) > mostRoom:
		room = make([]byte, leastRoom)
	}
	c.reads++
	n, err := receive(room[left:])
	c.room, c.inbox = room, room[:left+n]
	if n > 0 {
		return true, nil
	}
	if cause := c.Err(); cause != nil && err != nil {
		err = cause // the other is only what that looks like from inside
	}
	return left > 0, err
}

// Next is the next reply of what Fill has taken; a refusal of the server is an
// error. ok is false where none is left that is whole.
func (c *Conn) Next() (reply any, ok bool, err error) {
	if len(c.inbox) == 0 {
		return nil, false, nil
	}
	reply, n, err := readReply(c.inbox, c.admit)
	switch {
	case err == errShort:
		return nil, false, nil
	case err != nil:
		c.Sever(err)
		return nil, false, err
	}
	c.inbox = c.inbox[n:]
	if refused, is := reply.(error); is {
		return nil, true, refused
	}
	return reply, true, nil
}
