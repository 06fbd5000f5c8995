package pipeline

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/redisconn"
)

const (
	// discardAfter is how long a discarded key waits for others.
	discardAfter = 5 * time.Millisecond

	// refusedAfter is used instead when the server refused the last DEL.
	refusedAfter = 100 * time.Millisecond

	// maxDiscards bounds one DEL, so that no single command blocks the server
	// for long.
	maxDiscards = 1000
)

// discarded is a pipeline as the completion of a DEL.
type discarded Pipeline

// Complete discards the keys again if the DEL was lost or not sent, or if the server
// refused it for now. Deleting twice does no harm.
func (p *discarded) Complete(r *Request) {
	said, answered := redisconn.RefusalOf(r.Err)
	lost := r.Err != nil && !answered // or not even sent
	refused := said.Passing()
	if said.ReadOnly() {
		(*Pipeline)(p).GiveUp(r) // it may be long until another request meets READONLY
	}
	p.mu.Lock()
	p.refused = refused || said.Elsewhere() // the key may come back before its slot has moved
	p.mu.Unlock()
	for _, key := range r.Args {
		switch {
		case lost || refused:
			(*Pipeline)(p).Discard(key)
		case p.o.Node.Elsewhere != nil && said.Elsewhere():
			p.o.Node.Elsewhere(key)
		}
	}
}

// Discard deletes key, a string, with the next batch or after 5 ms, or after
// 100 ms if the server refused the last DEL. It does no I/O. Without a
// connection it keeps the keys for the next batch, at most 100,000, and drops
// the others. So a key must have a TTL.
func (p *Pipeline) Discard(key any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil || len(p.discards) >= 100*maxDiscards {
		return
	}
	p.discards = append(p.discards, key)
	if len(p.discards) > 1 {
		return
	}
	pause := discardAfter
	if p.refused {
		pause = refusedAfter
	}
	p.discard.Reset(pause)
}

// discardDue is called by the timer.
func (p *Pipeline) discardDue() {
	p.mu.Lock()
	p.discardNow = true
	p.mu.Unlock()
	p.WakeWriter()
}

// cutDiscards adds the DELs of the discarded keys to a batch. It is called with
// mu held.
func (p *Pipeline) cutDiscards(b []*Request) []*Request {
	for len(p.discards) > 0 {
		n := min(len(p.discards), maxDiscards)
		if p.o.Fixed {
			n = 1
		}
		r := &Request{Command: "DEL", Done: (*discarded)(p)}
		r.Args = append(r.ArgBuffer[:0], p.discards[:n]...)
		b = append(b, r)
		p.discards = slices.Delete(p.discards, 0, n)
	}
	p.discardNow = false
	p.discard.Stop()
	return b
}
