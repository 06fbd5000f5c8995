package pipeline

import (
	"errors"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// A server that answers a write with READONLY is a replica, or has become one:
// managed services move the master behind one address, and a connection may stay
// with the former master while both live. Nothing of the command ran. So its maker
// gives the connection up, and sends the command again on the next connection.

var (
	errReadOnly = errors.New("the server answered READONLY: it is not the master any more")
	errNoAuth   = errors.New("the server answered NOAUTH: it does not know the connection's account any more")
)

// GiveUp retires the connection on which r was answered, because its server is no
// longer the master, or wants credentials again. It does nothing if that connection
// is no longer in use. It is called by r's completion.
func (p *Pipeline) GiveUp(r *Request) {
	cause := errReadOnly
	if said, _ := redisconn.RefusalOf(r.Err); said.NoAuth() {
		cause = errNoAuth
	}
	if p.retire(r.conn, cause) && cause == errReadOnly {
		p.retireSibling()
	}
}

// Retire replaces the connection, for cause, without losing a command: those in
// flight are still answered on it, later ones go to the next connection. It reports
// false if there is no connection.
func (p *Pipeline) Retire(cause error) bool { return p.retire(nil, cause) }

// retire stops new batches on c, for cause. A nil c means the connection in use. It
// reports whether c was in use.
func (p *Pipeline) retire(c *conn, cause error) bool {
	p.mu.Lock()
	in := p.conn
	if in == nil || c != nil && c != in {
		p.mu.Unlock()
		return false
	}
	in.retired = true
	p.replaced, p.lastErr = true, cause
	in.end()
	idle := in.inflight == 0
	p.mu.Unlock()
	p.o.Log.GivenUp(cause)
	if idle {
		in.Interrupt() // its reader expects no reply
	}
	return true
}
