package pipeline

import "github.com/rlock-go/redisson/internal/redisconn"

// maxLoads bounds how often a request is repeated after NOSCRIPT: a fourth load
// does not help with a server that forgets scripts between two commands.
const maxLoads = 3

// complete completes a request, or loads the script that the server lacked (A1)
// and sends the request again. It loads once for all requests that were answered
// NOSCRIPT, and not for a request that was sent before the last load. If the
// server refuses SCRIPT or, like some proxies, does not know it, the request goes
// as EVAL, with the text.
func (p *Pipeline) complete(r *Request) {
	lacks := false
	if r.Err != nil && r.Script != nil {
		said, _ := redisconn.RefusalOf(r.Err)
		lacks = said.NoScript()
	}
	if !lacks {
		r.Done.Complete(r)
		return
	}
	p.mu.Lock()
	ld := p.loads[r.Script]
	r.Resent = true
	switch r.loads++; {
	case p.over == ErrGone:
		r.Err = &NotSentError{ErrGone}
	case r.loads <= maxLoads && p.ctx.Err() == nil:
		if ld != nil && ld.notAllowed {
			r.Command, r.Args = "EVAL", append([]any{r.Script.Source}, r.Args[1:]...)
		} else if ld == nil || !ld.queued && ld.batch <= r.batch {
			p.queue.add(p.load(r))
		}
		r.Reply, r.Err = nil, nil
		r.Deadline = p.o.Clock.Now() + p.o.Timeout
		p.queue.add(r)
		p.mu.Unlock()
		return
	case ld != nil && redisconn.IsRefusal(ld.err):
		r.Err = ld.err
	}
	p.mu.Unlock()
	r.Done.Complete(r)
}

// loadFirst puts SCRIPT LOAD before the batch for each script that this connection has
// not loaded so far. A request answered NOSCRIPT would still cost its WAIT, a second if
// a replica is silent. It is called with p.mu held.
func (c *conn) loadFirst(b []*Request) []*Request {
	var loads []*Request
	for _, r := range b {
		if r.Wait && r.Script != nil && !c.loaded[r.Script] {
			c.loaded[r.Script] = true
			loads = append(loads, c.p.load(r))
		}
	}
	if loads == nil {
		return b
	}
	return append(loads, b...)
}

// load returns a SCRIPT LOAD of r's script. It is called with mu held.
func (p *Pipeline) load(r *Request) *Request {
	ld := p.loads[r.Script]
	if ld == nil {
		ld = &load{}
		p.loads[r.Script] = ld
	}
	ld.queued = true
	return &Request{
		Command: "SCRIPT", Args: []any{"LOAD", r.Script.Source},
		Done: CompletionFunc(func(lr *Request) {
			said, _ := redisconn.RefusalOf(lr.Err)
			p.mu.Lock()
			ld.queued, ld.batch, ld.err, ld.notAllowed = false, lr.batch, lr.Err, said.NotAllowed()
			p.mu.Unlock()
			if lr.Err != nil {
				p.notAllowed("SCRIPT LOAD", lr.Err)
			}
		}),
		Deadline: r.Deadline,
	}
}
