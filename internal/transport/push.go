package transport

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
	kept    []byte
	word    []byte
}

// Word is an argument that writes itself, without becoming a string first.
type Word interface {
	// AppendWord appends the argument to b.
	AppendWord(b []byte) []byte
}

// Queue adds a command to those that Push will write, or writes what there is
// already if that is much. redigo's own Send appoints a deadline for each
// command, makes a string of each argument, and writes each 4 KiB by
// themselves, and each write has the server look. Its replies are received as
// after a Send.
func (c *Conn) Queue(command string, args []any) error {
	g := c.guard
	before := len(g.kept)
	b := appendHead(g.kept, '*', 1+len(args))
	b = appendBulk(b, command)
	for _, arg := range args {
		b = g.appendArg(b, arg)
	}
	g.kept = b
	if len(b) <= enough || before == 0 {
		return nil
	}
	if err := g.push(b[:before]); err != nil {
		return err
	}
	g.kept = append(b[:0], b[before:]...)
	return nil
}

// Push writes what was queued.
func (c *Conn) Push() error {
	g := c.guard
	if len(g.kept) == 0 {
		return nil
	}
	err := g.push(g.kept)
	if g.kept = g.kept[:0]; cap(g.kept) > 4*enough {
		g.kept = nil
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
	case Word:
		p.word = arg.AppendWord(p.word[:0])
	case int64:
		p.word = strconv.AppendInt(p.word[:0], arg, 10)
	case int:
		p.word = strconv.AppendInt(p.word[:0], int64(arg), 10)
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
		p.word = fmt.Append(p.word[:0], arg)
	}
	return appendBulk(b, p.word)
}

func appendHead(b []byte, kind byte, n int) []byte {
	b = strconv.AppendInt(append(b, kind), int64(n), 10)
	return append(b, '\r', '\n')
}

func appendBulk[T string | []byte](b []byte, word T) []byte {
	b = append(appendHead(b, '$', len(word)), word...)
	return append(b, '\r', '\n')
}
