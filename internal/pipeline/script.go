package pipeline

import (
	"slices"
	"strings"

	"github.com/gomodule/redigo/redis"
)

// maxLoads bounds how often one request meets NOSCRIPT before that is its
// answer: a server that forgets scripts between two commands won't be served
// by loading a fourth time.
const maxLoads = 3

// load is what is known of a script's SCRIPT LOAD.
type load struct {
	queued bool   // waiting to be sent; whatever is queued behind it will find the script
	batch  uint64 // the batch that the last one went with
	err    error  // what the server said to it
}

// complete completes a request, or loads the script that the server lacked
// (A1). It loads it once for all requests that were answered NOSCRIPT, and
// never for an EVALSHA that was sent after a load.
func (p *Pipeline) complete(r *Request) {
	if readOnly(r.Err) {
		p.refusedByReplica(r)
		return
	}
	if r.Script == nil || r.Err == nil || !strings.HasPrefix(string(serverError(r.Err)), "NOSCRIPT") {
		r.Done.Complete(r)
		return
	}
	p.mu.Lock()
	ld := p.loads[r.Script]
	if ld == nil {
		ld = &load{}
		p.loads[r.Script] = ld
	}
	if r.loads++; r.loads > maxLoads || p.closed {
		if serverError(ld.err) != "" {
			r.Err = ld.err
		}
		p.mu.Unlock()
		r.Done.Complete(r)
		return
	}
	if !ld.queued && ld.batch <= r.batch {
		ld.queued = true
		p.queue = append(p.queue, &Request{
			Command: "SCRIPT", Args: []any{"LOAD", r.Script.Source},
			Done: CompletionFunc(func(lr *Request) {
				p.mu.Lock()
				ld.queued, ld.batch, ld.err = false, lr.batch, lr.Err
				p.mu.Unlock()
			}),
			deadline: r.deadline, queued: true,
		})
	}
	r.Reply, r.Err = nil, nil
	r.deadline = p.o.Clock.Now() + p.o.Timeout
	r.queued = true
	p.queue = append(p.queue, r)
	p.mu.Unlock()
}

// refusedForNow tells a server's refusal to write that passes.
func refusedForNow(err error) bool {
	code, _, _ := strings.Cut(string(serverError(err)), " ")
	return slices.Contains([]string{"LOADING", "BUSY", "MASTERDOWN", "READONLY", "MISCONF", "NOREPLICAS"}, code)
}

func serverError(err error) redis.Error {
	e, _ := err.(redis.Error)
	return e
}
