package pipeline

import "errors"

// Where WAIT is in use, two pipelines lead to one server: the main one has commands that may
// wait behind a WAIT for long, its sibling those that must not. They are independent, except
// that both have to lead to the same server, and share the count of its replicas
// (Options.Share).

// Pair makes a and b siblings, before they are used.
func Pair(a, b *Pipeline) { a.sibling, b.sibling = b, a }

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

// moveSibling has the sibling connect anew if it leads to another server than the
// connection that was just made. It is called without mu, once that connection is in use: of
// two that are made at the same time at least one sees the other.
func (p *Pipeline) moveSibling(at server) {
	other := p.sibling
	if other == nil {
		return
	}
	other.mu.Lock()
	apart := other.conn != nil && other.server.another(at)
	other.mu.Unlock()
	if apart {
		other.Retire(errApart)
	}
}
