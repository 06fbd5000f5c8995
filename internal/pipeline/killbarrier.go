package pipeline

import "slices"

// AfterKillBarrier calls fn with true once the server can run no more commands from the
// connection on which r was lost. It calls fn with false if that can't be achieved,
// because the server refuses CLIENT ID or CLIENT KILL or the pipeline was closed. fn
// runs on this goroutine or later on another one, and must not block. r must have ended
// with a LostError.
func (p *Pipeline) AfterKillBarrier(r *Request, fn func(killed bool)) {
	b := r.conn.barrier
	p.mu.Lock()
	waits, killed := !b.decided && p.ctx.Err() == nil, b.killed
	if waits {
		b.waiting = append(b.waiting, fn)
		p.connect() // a closing pipeline has not yet
	}
	p.mu.Unlock()
	if !waits {
		fn(killed)
	}
}

// Doubted tells whether r's kill barrier may have asked the wrong server: CLIENT KILL found
// nothing, and the server is not known to be the process that r was written to. The answer
// counts only if the asked server is the master of r's keys: what runs on any other server
// does not matter then. Without Options.Fixed no barrier is doubted.
func (p *Pipeline) Doubted(r *Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return r.conn.barrier.doubted
}

// connects tells whether a kill barrier needs a connection. A closing pipeline makes
// none for a barrier that no caller waits for. It is called with mu held.
func (p *Pipeline) connects() bool {
	return slices.ContainsFunc(p.barriers, func(b *killBarrier) bool { return !b.decided && (!p.closing || len(b.waiting) > 0) })
}

// awaited counts the kill barriers that a caller waits for or may still wait for. Those of
// a silent server that the node has left don't count: it may hang, and so may the next
// connection to it. It is called with mu held.
func (p *Pipeline) awaited() (n int) {
	for _, b := range p.barriers {
		if gone := p.over == ErrGone && b.silent; !gone && (!b.ended || len(b.waiting) > 0) {
			n++
		}
	}
	return n
}

// runBarriers reports the outcome of decided kill barriers and drops them.
func (p *Pipeline) runBarriers() {
	p.mu.Lock()
	var decided []*killBarrier
	p.barriers = slices.DeleteFunc(p.barriers, func(b *killBarrier) bool {
		if b.decided {
			decided = append(decided, b)
		}
		return b.decided
	})
	p.mu.Unlock()
	for _, b := range decided {
		for _, fn := range b.waiting { // no more are added
			fn(b.killed)
		}
	}
}
