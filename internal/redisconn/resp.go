package redisconn

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/gomodule/redigo/redis"
)

// enough is how much is written at once, at the most: as much as a server reads
// at once.
const enough = 16 << 10

// Arg is an argument that writes itself, without becoming a string first.
type Arg interface {
	// AppendArg appends the argument to b.
	AppendArg(b []byte) []byte
}

// Queue adds a command to those that Push will write, or pushes what there is
// already if that is much. It reports whether all that was pushed is written. redigo's
// own Send appoints a deadline for each command, makes a string of each argument, and
// writes each 4 KiB by themselves, and each write has the server look. Its replies are
// received as after a Send.
func (c *Conn) Queue(command string, args []any, wait bool) (all bool, err error) {
	g := c.guard
	before := len(g.unsent)
	b := append(g.unsent, '*')
	b = strconv.AppendInt(b, int64(1+len(args)), 10)
	b = append(b, '\r', '\n')
	b = appendBulk(b, command)
	for _, arg := range args {
		if text, ok := arg.(string); ok {
			b = appendBulk(b, text)
			continue
		}
		g.arg = appendArg(g.arg[:0], arg)
		b = appendBulk(b, g.arg)
	}
	g.unsent = b
	if len(b) <= enough || before == 0 {
		return true, nil
	}
	g.unsent = b[:before]
	all, err = c.Push(wait)
	g.unsent = append(g.unsent, b[before:]...)
	return all, err
}

// Push writes what was queued, in the time that a write may take. Without wait it
// writes what needs no waiting, and reports false if something is left for the next
// Push. The deadline is moved once a quarter of that time is over: moving it costs as
// much as encoding a command does. It may pass while nothing is written.
func (c *Conn) Push(wait bool) (all bool, err error) {
	g := c.guard
	if len(g.unsent) == 0 {
		return true, nil
	}
	if now := time.Since(g.made); g.until-now < g.timeout*3/4 {
		g.until = now + g.timeout
		if err := g.Conn.SetWriteDeadline(g.made.Add(g.until)); err != nil {
			return false, err
		}
	}
	write := g.stream.TryWrite
	if wait {
		write = g.stream.Write
	}
	n, err := write(g.unsent)
	left := copy(g.unsent, g.unsent[n:])
	if g.unsent = g.unsent[:left]; left == 0 && cap(g.unsent) > 4*enough {
		g.unsent = nil
	}
	return left == 0, err
}

// WritesAtOnce tells whether a Push that must not wait can write.
func (c *Conn) WritesAtOnce() bool {
	_, waits := c.guard.stream.(waits)
	return !waits
}

// appendArg appends what redigo makes of an argument, which is no bool and not nil.
func appendArg(b []byte, arg any) []byte {
	switch arg := arg.(type) {
	case Arg:
		return arg.AppendArg(b)
	case int64:
		return strconv.AppendInt(b, arg, 10)
	case int:
		return strconv.AppendInt(b, int64(arg), 10)
	case string:
		return append(b, arg...)
	case []byte:
		return append(b, arg...)
	case redis.Argument:
		return appendArg(b, arg.RedisArg())
	default:
		return fmt.Append(b, arg)
	}
}

func appendBulk[T string | []byte](b []byte, arg T) []byte {
	b = strconv.AppendInt(append(b, '$'), int64(len(arg)), 10)
	b = append(b, '\r', '\n')
	b = append(b, arg...)
	return append(b, '\r', '\n')
}

// Manage has replies received by Fill and Next alone from now on, and leaves the
// reads' deadlines to SetReadDeadline. Those that redigo sets before each reply
// have no effect any more. It reports whether a connection whose deadline has
// passed is as good as before, with another one.
func (c *Conn) Manage() (lasts bool) {
	c.guard.managed.Store(true)
	return native(c.guard.Conn)
}

// SetReadDeadline bounds the Fill under way and those that follow, from any
// goroutine.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.guard.Conn.SetReadDeadline(t) }

// Fill waits for the network, and takes what has come, for Next. An error of the network is
// met again by the next call, unless a deadline was moved meanwhile.
func (c *Conn) Fill() error {
	_, err := c.guard.fill(c.guard.stream.Read)
	return err
}

// TryFill is Fill without waiting and without a deadline. It reports whether Next may have
// something. It is for a connection that WritesAtOnce.
func (c *Conn) TryFill() (some bool, err error) {
	n, err := c.guard.fill(c.guard.stream.TryRead)
	return n > 0, err
}

// ErrUnasked is a reply that nobody has asked for. What comes after it can't be told
// from the replies to other commands.
var ErrUnasked = errors.New("a reply to nothing")

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
	reply, err = c.ConnWithTimeout.Receive()
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
