package pipeline

import "errors"

// Where WAIT is in use, two pipelines lead to one server. The main one takes commands that
// may wait long behind a WAIT, its sibling those that must not. They are independent, except
// that both have to lead to the same server, and share the count of its replicas
// (Options.Share).

// Pair makes a and b siblings. It must be called before they are used.
func Pair(a, b *Pipeline) { a.sibling, b.sibling = b, a }

// avoidFor is how long a failure to connect makes a pipeline not Reachable.
const avoidFor = 10 * shortLastBackoff

// errApart is the cause when the sibling's connection is replaced.
var errApart = errors.New("another connection of the client leads to another server")

// AsksReplicas tells whether WAIT asks for any replica, as of the last count.
func (p *Pipeline) AsksReplicas() bool {
	n, _ := p.tally.Load().expects()
	return n > 0
}

// Reachable tells whether there is a connection, or no attempt to connect has
// failed within the last second.
func (p *Pipeline) Reachable() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conn != nil || p.lastErr == nil || p.o.Clock.Now()-p.failedAt > avoidFor
}

// retireSibling replaces the sibling's connection to the server of this pipeline, which is not the
// master any more. The sibling may have nothing to write that would tell it so.
func (p *Pipeline) retireSibling() {
	p.mu.Lock()
	at := p.server
	p.mu.Unlock()
	if other := p.sibling; other != nil && !other.leadsElsewhere(at) {
		other.Retire(errReadOnly)
	}
}

// leadsElsewhere tells whether there is a connection, and it is not to this server.
func (p *Pipeline) leadsElsewhere(at server) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conn != nil && p.server.another(at)
}
