package redisconn

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// grace is how long a dial may take after its context has ended. A dial that heeds
// its context ends within that, with an error that says why.
const grace = 50 * time.Millisecond

// errLate is the error if a dial was abandoned, or a late one is still going on.
var errLate = errors.New("connect: timeout: the dial goes on without an answer")

// punctual makes dials return at most 50 ms after their ctx has ended, whatever they do: the Dial of a
// pool has no context, and a caller's function may ignore its own. A late dial is abandoned. Its
// connection is closed on arrival, which gives a borrowed one back, and no other is made until then.
// The zero value is ready.
type punctual[C io.Closer] struct {
	mu   sync.Mutex     // guards late
	late map[string]int // by address: how many late dials go on
}

// count adds n to the late dials of an address, and tells whether there are any.
func (p *punctual[C]) count(address string, n int) (some bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.late == nil {
		p.late = map[string]int{}
	}
	p.late[address] += n
	if some = p.late[address] > 0; !some {
		delete(p.late, address)
	}
	return some
}

// dial calls f, unless an earlier call for the address is late. It returns at most 50 ms
// after ctx has ended.
func (p *punctual[C]) dial(ctx context.Context, address string, f func(context.Context) (C, error)) (none C, err error) {
	if p.count(address, 0) {
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
				_ = conn.Close() // no caller is left to take its error
			}
			p.count(address, -1)
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
		p.count(address, 1)
		close(abandoned)
		return none, errLate
	}
}
