package redisconn

import (
	"errors"
	"time"
)

const (
	// leastRoom is the size of the read buffer: some hundred replies to scripts.
	leastRoom = 4 << 10

	// mostRoom is the largest buffer that is kept after a long reply.
	mostRoom = 64 << 10
)

// ErrUnasked is a reply without a command. Later replies can't be matched to their commands.
var ErrUnasked = errors.New("a reply to nothing")

// SetReadDeadline bounds the Fill in progress and all later ones. Any goroutine may call
// it. It is for a connection that WritesAtOnce; others may not support deadlines.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.conn.SetReadDeadline(t) }

// Fill takes what has come, for Next, and reports whether Next may have something. With wait it
// waits for the network, until the deadline. Without wait it is for a connection that WritesAtOnce.
// After an error of the network the next call meets it again, unless a deadline was moved
// meanwhile. So an error that comes with bytes is dropped.
func (c *Conn) Fill(wait bool) (some bool, err error) {
	room := c.room[:cap(c.room)]
	left := copy(room, c.inbox) // a part of a reply, usually empty
	switch {
	case left == len(room):
		room = append(room, make([]byte, max(left, leastRoom))...)
	case left == 0 && len(room) > mostRoom:
		room = make([]byte, leastRoom)
	}
	c.reads++
	n, err := c.stream.ReadSome(room[left:], wait)
	c.room, c.inbox = room, room[:left+n]
	if n > 0 {
		return true, nil
	}
	if cause := c.Err(); cause != nil && err != nil {
		err = cause // the read's error is only its effect
	}
	return left > 0, err
}

// Next returns the next reply of what Fill has taken. A refusal of the server is an error
// with ok true. ok is false if no reply is complete, or with an error that ends c.
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
