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
	b := appendHead(g.unsent, '*', 1+len(args))
	b = appendBulk(b, command)
	for _, arg := range args {
		b = g.appendArg(b, arg)
	}
	g.unsent = b
	if len(b) <= enough || before == 0 {
		return nil
	}
	if err := g.push(b[:before]); err != nil {
		return err
	}
	g.unsent = append(b[:0], b[before:]...)
	return nil
}

// Push writes what was queued.
func (c *Conn) Push() error {
	g := c.guard
	if len(g.unsent) == 0 {
		return nil
	}
	err := g.push(g.unsent)
	if g.unsent = g.unsent[:0]; cap(g.unsent) > 4*enough {
		g.unsent = nil
	}
	return err
}

func (g *guard) push(b []byte) error {
	if err := g.Conn.SetWriteDeadline(time.Now().Add(g.timeout)); err != nil {
		return err
	}
	_, err := g.Conn.Write(b)
	return err
}

// appendArg is what redigo makes of an argument.
func (p *pusher) appendArg(b []byte, arg any) []byte {
	switch arg := arg.(type) {
	case string:
		return appendBulk(b, arg)
	case Arg:
		p.arg = arg.AppendArg(p.arg[:0])
	case int64:
		p.arg = strconv.AppendInt(p.arg[:0], arg, 10)
	case int:
		p.arg = strconv.AppendInt(p.arg[:0], int64(arg), 10)
	case []byte:
		return appendBulk(b, arg)
	case redis.Argument:
		return p.appendArg(b, arg.RedisArg())
	case bool:
		// As redigo does, not as fmt.
		if arg {
			return appendBulk(b, "1")
		}
		return appendBulk(b, "0")
	case nil:
		return appendBulk(b, "")
	default:
		p.arg = fmt.Append(p.arg[:0], arg)
	}
	return appendBulk(b, p.arg)
}

func appendHead(b []byte, kind byte, n int) []byte {
	b = strconv.AppendInt(append(b, kind), int64(n), 10)
	return append(b, '\r', '\n')
}

func appendBulk[T string | []byte](b []byte, arg T) []byte {
	b = append(appendHead(b, '$', len(arg)), arg...)
	return append(b, '\r', '\n')
}
