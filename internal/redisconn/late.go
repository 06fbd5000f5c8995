package redisconn

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
)

// grace is how long a dial is waited for beyond its context: one that heeds it
// ends within that, and says what it met.
const grace = 50 * time.Millisecond

// errLate is the end of a wait for a dial that goes on.
var errLate = errors.New("connect: timeout: the dial goes on without an answer")

// Punctual gives a dial that returns a moment after its ctx has ended, whatever
// dial does: the Dial of a pool has no context, and a caller's function may not
// look at it. A dial that is late goes on by itself. A later call waits for that
// one in the place of dialling beside it, so there is never more than one, and
// a connection that comes when nobody waits is closed, which gives a borrowed
// one back. The result is for one caller at a time.
func Punctual(dial func(context.Context) (redis.Conn, error)) func(context.Context) (redis.Conn, error) {
	var running *dialling
	return func(ctx context.Context) (redis.Conn, error) {
		d := running
		if d == nil || d.join() {
			d = &dialling{done: make(chan struct{}), wanted: true}
			running = d
			go d.run(ctx, dial)
		}
		select {
		case <-d.done:
		case <-ctx.Done():
			timer := time.NewTimer(grace)
			defer timer.Stop()
			select {
			case <-d.done:
			case <-timer.C:
				if d.part() {
					return nil, errLate
				}
			}
		}
		running = nil
		return d.conn, d.err
	}
}

// dialling is a dial under way.
type dialling struct {
	done chan struct{} // closed when conn and err are there

	mu     sync.Mutex // guards the two below
	wanted bool       // somebody waits for it
	ended  bool

	conn redis.Conn
	err  error
}

func (d *dialling) run(ctx context.Context, dial func(context.Context) (redis.Conn, error)) {
	conn, err := dial(ctx)
	d.mu.Lock()
	d.ended = true
	wanted := d.wanted
	d.mu.Unlock()
	if !wanted && err == nil {
		_ = conn.Close() // nobody is there to tell
		conn = nil
	}
	d.conn, d.err = conn, err
	close(d.done)
}

// join waits for the dial of an earlier caller. It reports true if that ended
// meanwhile, when nobody waited.
func (d *dialling) join() (gone bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return true
	}
	d.wanted = true
	return false
}

// part leaves the dial to itself. It reports false if it ended in time.
func (d *dialling) part() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		<-d.done // at once: it is wanted
		return false
	}
	d.wanted = false
	return true
}
