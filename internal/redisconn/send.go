package redisconn

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/gomodule/redigo/redis"
)

// enough is the approximate size of one write. A server reads as much at a time.
const enough = 16 << 10

// Arg is an argument that appends itself, so that no string is made of it.
type Arg interface {
	// AppendArg appends the argument to b.
	AppendArg(b []byte) []byte
}

// Queue adds a command to those that Push will write. If they would exceed 16 KiB, it
// first pushes the earlier ones, and reports whether all of these are written. redigo's
// Send is slower: it sets a deadline for each command, makes a string of each argument,
// and writes every 4 KiB, each of which wakes the server. The reply to a queued command
// is received as after a Send.
func (c *Conn) Queue(command string, args []any, wait bool) (all bool, err error) {
	before := len(c.unsent)
	b := append(c.unsent, '*')
	b = strconv.AppendInt(b, int64(1+len(args)), 10)
	b = append(b, '\r', '\n')
	b = appendBulk(b, command)
	for _, arg := range args {
		if text, ok := arg.(string); ok {
			b = appendBulk(b, text)
			continue
		}
		c.arg = appendArg(c.arg[:0], arg)
		b = appendBulk(b, c.arg)
	}
	c.unsent = b
	if len(b) <= enough || before == 0 {
		return true, nil
	}
	c.unsent = b[:before]
	all, err = c.Push(wait)
	c.unsent = append(c.unsent, b[before:]...)
	return all, err
}

// Push writes what was queued. With wait it may wait for the network; the write timeout
// ends the connection. Without wait it writes what the socket takes at once, and reports
// false if something is left for the next Push.
func (c *Conn) Push(wait bool) (all bool, err error) {
	if len(c.unsent) == 0 {
		return true, nil
	}
	if wait {
		c.writeGuard.Reset(c.timeout)
		defer c.writeGuard.Stop()
	}
	n, err := c.stream.WriteSome(c.unsent, wait)
	if err != nil {
		err = cmp.Or(c.Err(), err) // the write's error may be only its effect
	}
	left := copy(c.unsent, c.unsent[n:])
	if c.unsent = c.unsent[:left]; left == 0 && cap(c.unsent) > 4*enough {
		c.unsent = nil
	}
	return left == 0, err
}

// WritesAtOnce tells whether a Push without wait can write anything.
func (c *Conn) WritesAtOnce() bool {
	_, waits := c.stream.(waits)
	return !waits
}

// appendArg appends an argument as redigo encodes it. The argument is no bool and not nil.
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
