package pipeline

import (
	"errors"

	"github.com/rlock-go/redisson/internal/clock"
)

// A server that answers a write with READONLY is a replica, or has become one:
// managed services move the master behind one address, and a connection may
// stay with the old one for as long as both live. Nothing of the command ran.
// So the connection is given up, and the command goes to whatever server the
// next one leads to, while its deadline lasts.

var errReadOnly = errors.New("the server answered READONLY: it is not the master any more")

// refusedByReplica queues r for the next connection, or completes it with the
// server's answer if its deadline has passed.
func (p *Pipeline) refusedByReplica(r *Request) {
	p.mu.Lock()
	retired := p.retire(r.conn, errReadOnly)
	again := !r.Once && r.deadline > clock.Early(p.o.Clock) && !p.closed
	if again {
		r.Reply, r.Err = nil, nil
		r.queued, r.resent = true, true
		p.queue = append(p.queue, r)
	}
	p.mu.Unlock()
	if retired {
		p.o.log.GivenUp(errReadOnly)
	}
	if !again {
		r.Done.Complete(r)
	}
}

// Retire replaces the present connection, for cause, once its open commands are
// answered. Nothing is lost by it. It reports false if there is no connection.
func (p *Pipeline) Retire(cause error) bool {
	p.mu.Lock()
	c := p.conn
	retired := p.retire(c, cause)
	idle := retired && c.inflight == 0
	p.mu.Unlock()
	if !retired {
		return false
	}
	p.o.log.GivenUp(cause)
	if idle && c.managed != nil {
		c.Interrupt() // its reader waits for nothing in particular
	}
	return true
}

// retire stops new batches on c, for cause. It reports whether c was the
// connection in use. It is called with mu held.
func (p *Pipeline) retire(c *conn, cause error) bool {
	if c == nil || p.conn != c {
		return false
	}
	c.retired = true
	p.moved, p.lastErr = true, cause
	c.end()
	return true
}
