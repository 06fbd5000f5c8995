package pipeline

import "errors"

// A server that answers a write with READONLY is a replica, or has become one:
// managed services move the master behind one address, and a connection may
// stay with the old one for as long as both live. Nothing of the command ran.
// So whoever gets that answer gives the connection up, and sends the command
// again to whatever server the next one leads to.

var errReadOnly = errors.New("the server answered READONLY: it is not the master any more")

// GiveUp retires the connection that r was answered on, because its server is
// not the master any more. It does nothing if another one is in use by now. It
// is called by r's completion.
func (p *Pipeline) GiveUp(r *Request) {
	p.mu.Lock()
	retired := p.retire(r.conn, errReadOnly)
	p.mu.Unlock()
	if retired {
		p.o.log.GivenUp(errReadOnly)
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
