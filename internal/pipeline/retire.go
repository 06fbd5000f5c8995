package pipeline

import (
	"errors"

	"github.com/rlock-go/redisson/internal/refusal"
)

// A server that answers a write with READONLY is a replica, or has become one:
// managed services move the master behind one address, and a connection may
// stay with the old one for as long as both live. Nothing of the command ran.
// So the maker of a command with that answer gives the connection up, and sends the command
// again to whatever server the next one leads to.

var (
	errReadOnly = errors.New("the server answered READONLY: it is not the master any more")
	errNoAuth   = errors.New("the server answered NOAUTH: it does not know the connection's account any more")
)

// GiveUp retires the connection that r was answered on, because its server is
// no longer the master, or wants credentials again. It does nothing if another one
// is in use by now. It is called by r's completion.
func (p *Pipeline) GiveUp(r *Request) {
	cause := errReadOnly
	if said, _ := refusal.Of(r.Err); said.NoAuth() {
		cause = errNoAuth
	}
	p.retire(r.conn, cause)
}

// Retire replaces the present connection, for cause, once its open commands are
// answered. Nothing is lost by it. It reports false if there is no connection.
func (p *Pipeline) Retire(cause error) bool { return p.retire(nil, cause) }

// retire stops new batches on c, for cause; nil: on the connection there is. It reports
// whether c was the connection in use.
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
		in.Interrupt() // its reader waits for nothing in particular
	}
	return true
}
