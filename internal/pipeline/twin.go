package pipeline

import "errors"

// Two pipelines to one server are twins where WAIT is in use: one has what may
// stand behind a WAIT for long, the other what must not. Each goes by itself, but
// for this: both lead to the same server, and share the count of its replicas
// (Options.Share).

// avoidFor is how long a pipeline that could not connect is not Reachable.
const avoidFor = 10 * shortLastBackoff

// errApart is why a connection is replaced.
var errApart = errors.New("another connection of the client leads to another server")

// Waits tells whether there were replicas to wait for when they were last
// counted.
func (p *Pipeline) Waits() bool {
	n, _ := p.tally.Load().expects()
	return n > 0
}

// Reachable tells whether there is a connection, or an attempt to make one is
// worth while: none has failed lately.
func (p *Pipeline) Reachable() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conn != nil || p.lastErr == nil || p.o.Clock.Now()-p.failedAt > avoidFor
}

// drawTwin has the twin connect anew if it leads to another server than a
// connection that was just made. It is called without mu, once that is in use: of
// two that are made at the same time one at least sees the other.
func (p *Pipeline) drawTwin(at server) {
	if p.o.Twin == nil {
		return
	}
	t := p.o.Twin()
	t.mu.Lock()
	apart := t.conn != nil && t.server.another(at)
	t.mu.Unlock()
	if apart {
		t.Retire(errApart)
	}
}
