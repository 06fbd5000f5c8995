package redisconn

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
)

// grace is how long a dial is waited for beyond its context: one that heeds it
// ends within that, and says what it met.
const grace = 50 * time.Millisecond

// errLate is the end of a wait for a dial that goes on.
var errLate = errors.New("connect: timeout: the dial goes on without an answer")

// inTime gives a dial that returns a moment after its ctx has ended, whatever
// dial does: the Dial of a pool has no context, and a caller's function may not
// look at it. A late dial is abandoned: its connection is closed on arrival, which gives
// a borrowed one back, and until then no other is made. See OwnDeadline for the error.
func inTime(dial func(context.Context) (redis.Conn, error)) func(context.Context) (redis.Conn, error) {
	var p punctual[redis.Conn]
	return func(ctx context.Context) (redis.Conn, error) {
		c, err := p.dial(ctx, "", dial)
		return c, OwnDeadline(err)
	}
}

// punctual has dials return in time. The zero value is ready.
type punctual[C io.Closer] struct {
	late sync.Map // by address: the channel that a dial which still goes on was abandoned by
}

// dial is f, unless another call of it for the address is late.
func (p *punctual[C]) dial(ctx context.Context, address string, f func(context.Context) (C, error)) (none C, err error) {
	if _, late := p.late.Load(address); late {
		return none, errLate
	}
	type result struct {
		conn C
		err  error
	}
	done, abandoned := make(chan result), make(chan struct{})
	go func() {
		conn, err := f(ctx)
		select {
		case done <- result{conn, err}:
		case <-abandoned:
			if err == nil {
				_ = conn.Close() // nobody is there to tell
			}
			p.late.CompareAndDelete(address, abandoned)
		}
	}()
	select {
	case r := <-done:
		return r.conn, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return r.conn, r.err
	case <-time.After(grace):
		p.late.Store(address, abandoned)
		close(abandoned)
		return none, errLate
	}
}
