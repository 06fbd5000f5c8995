package pipeline

import (
	"github.com/rlock-go/redisson/internal/refusal"
)

// maxLoads bounds how often one request meets NOSCRIPT before that is its
// answer: a server that forgets scripts between two commands won't be served
// by loading a fourth time.
const maxLoads = 3

// complete completes a request, or loads the script that the server lacked
// (A1). It loads it once for all requests that were answered NOSCRIPT, and
// never for an EVALSHA that was sent after a load. Where SCRIPT is refused, or is
// unknown as to some proxies, the request goes as EVAL, with the text.
func (p *Pipeline) complete(r *Request) {
	if said, _ := refusal.Of(r.Err); r.Script == nil || !said.NoScript() {
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
		if ld.notAllowed() {
			r.Command, r.Args = "EVAL", append([]any{r.Script.Source}, r.Args[1:]...)
		} else if ld == nil || !ld.queued && ld.batch <= r.batch {
			p.queue.add(p.load(r))
		}
		r.Reply, r.Err = nil, nil
		r.deadline = p.o.Clock.Now() + p.o.Timeout
		p.queue.add(r)
		p.mu.Unlock()
		return
	case ld != nil && refusal.Is(ld.err):
		r.Err = ld.err
	}
	p.mu.Unlock()
	r.Done.Complete(r)
}

// notAllowed tells that the server refused to load the script, and always will.
func (ld *load) notAllowed() bool {
	if ld == nil {
		return false
	}
	said, _ := refusal.Of(ld.err)
	return said.NotAllowed()
}

// loadFirst puts the SCRIPT LOAD of each script that the connection has not run so
// far before the batch: a script that is answered NOSCRIPT would have its WAIT all
// the same, for a second while a replica is silent. It is called with p.mu held.
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

// load is the SCRIPT LOAD of r's script. It is called with mu held.
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
			p.mu.Lock()
			ld.queued, ld.batch, ld.err = false, lr.batch, lr.Err
			p.mu.Unlock()
		}),
		deadline: r.deadline,
	}
}
