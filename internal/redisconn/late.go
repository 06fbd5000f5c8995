package redisconn

import (
	"context"
	"errors"
	"time"

	"github.com/gomodule/redigo/redis"
)

// grace is how long a dial is waited for beyond its context: one that heeds it
// ends within that, and says what it met.
const grace = 50 * time.Millisecond

// errLate is the end of a wait for a dial that goes on.
var errLate = errors.New("connect: timeout: the dial goes on without an answer")

// errUnwanted is the end of a dial that nobody waited for by then.
var errUnwanted = errors.New("nobody waits for the dial")

// Punctual gives a dial that returns a moment after its ctx has ended, whatever
// dial does: the Dial of a pool has no context, and a caller's function may not
// look at it. A dial that is late goes on by itself. A later call waits for that
// one in the place of dialling beside it, so there is never more than one, and
// a connection that comes when nobody waits is closed, which gives a borrowed
// one back. A deadline that ends a dial is told as its own. The result is for one
// caller at a time.
func Punctual(dial func(context.Context) (redis.Conn, error)) func(context.Context) (redis.Conn, error) {
	var running *dialling
	return func(ctx context.Context) (redis.Conn, error) {
		for {
			d := running
			if d == nil {
				d = &dialling{wanted: make(chan struct{}, 1), done: make(chan struct{})}
			}
			d.wanted <- struct{}{}
			if running == nil {
				running = d
				go d.run(ctx, dial)
			}
			if _, ended := await(ctx, d.done); !ended {
				select {
				case <-d.wanted:
					return nil, errLate
				case <-d.done: // just in time
				}
			}
			if running = nil; d.err != errUnwanted {
				return d.conn, d.err
			}
		}
	}
}

// dialling is a dial under way.
type dialling struct {
	wanted chan struct{} // of one: has one while somebody waits, until the dial ends
	done   chan struct{} // closed when conn and err are there
	conn   redis.Conn
	err    error
}

func (d *dialling) run(ctx context.Context, dial func(context.Context) (redis.Conn, error)) {
	conn, err := dial(ctx)
	select {
	case <-d.wanted:
		d.conn, d.err = conn, OwnDeadline(err)
		close(d.done)
	default:
		d.err = errUnwanted
		close(d.done)
		if err == nil {
			_ = conn.Close() // nobody is there to tell
		}
	}
}

// await receives from c, and reports false if nothing has come a moment after ctx has
// ended.
func await[T any](ctx context.Context, c <-chan T) (v T, ok bool) {
	select {
	case v = <-c:
		return v, true
	case <-ctx.Done():
	}
	select {
	case v = <-c:
		return v, true
	case <-time.After(grace):
		return v, false
	}
}
