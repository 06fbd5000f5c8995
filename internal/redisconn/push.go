package redisconn

import (
	"fmt"
	"strconv"
	"time"

	"github.com/gomodule/redigo/redis"
)

// enough is how much is written at once, at the most: as much as a server reads
// at once.
const enough = 16 << 10

// pusher is what is encoded and not written yet. It belongs to the one that
// sends.
type pusher struct {
	timeout time.Duration // of each write
	lasts   bool          // a deadline may pass while nothing is written
	made    time.Time     // the deadline counts from then
	until   time.Duration // the deadline
	unsent  []byte
	arg     []byte
}

// Arg is an argument that writes itself, without becoming a string first.
type Arg interface {
	// AppendArg appends the argument to b.
	AppendArg(b []byte) []byte
}

// Queue adds a command to those that Push will write, or writes what there is
// already if that is much. redigo's own Send appoints a deadline for each
// command, makes a string of each argument, and writes each 4 KiB by
// themselves, and each write has the server look. Its replies are received as
// after a Send.
func (c *Conn) Queue(command string, args []any) error {
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
		return nil
	}
	g.unsent = b[:before]
	err := c.Push()
	g.unsent = append(g.unsent, b[before:]...)
	return err
}

// Push writes what was queued, in the time that a write may take. The deadline of
// a connection of the system's own is moved once a quarter of that is over: moving
// it costs as much as encoding a command does.
func (c *Conn) Push() error {
	g := c.guard
	if len(g.unsent) == 0 {
		return nil
	}
	if now := time.Since(g.made); !g.lasts || g.until-now < g.timeout*3/4 {
		g.until = now + g.timeout
		if err := g.Conn.SetWriteDeadline(g.made.Add(g.until)); err != nil {
			return err
		}
	}
	_, err := g.Conn.Write(g.unsent)
	if g.unsent = g.unsent[:0]; cap(g.unsent) > 4*enough {
		g.unsent = nil
	}
	return err
}

// appendArg appends what redigo makes of an argument.
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
	case bool:
		// As redigo does, not as fmt.
		if arg {
			return append(b, '1')
		}
		return append(b, '0')
	case nil:
		return b
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
