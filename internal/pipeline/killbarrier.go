package pipeline

import (
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// killBarrier is how the server knows one connection, and whether bytes written
// to it can still run.
type killBarrier struct {
	id   int64  // CLIENT ID; 0 where the server would not say
	addr string // the address that the server sees
	at   string // the server's own, as it sees it; empty where it does not say
	run  string // its run id, with Options.Fixed; empty where it does not say

	decided bool // guarded by Pipeline.mu, like all below
	killed  bool // decided by CLIENT KILL: nothing of the connection runs any more
	doubted bool // it found nothing, at a server that may be another one
	waiting []func(closed bool)
}

// AfterKillBarrier calls fn with true once no byte of the connection that r was
// lost on can run any more. It calls fn with false once it is known that this
// can't be achieved, because the server refuses CLIENT ID or CLIENT KILL or the
// pipeline was closed. fn may run on this goroutine or on another one later. It
// must not block. r must have ended with a LostError.
func (p *Pipeline) AfterKillBarrier(r *Request, fn func(killed bool)) {
	b := r.conn.barrier
	p.mu.Lock()
	if !b.decided {
		if p.closed && p.ctx.Err() != nil {
			p.mu.Unlock()
			fn(false)
			return
		}
		b.waiting = append(b.waiting, fn)
		p.mu.Unlock()
		return
	}
	killed := b.killed
	p.mu.Unlock()
	fn(killed)
}

// Doubted tells of a kill barrier that killed: CLIENT KILL found nothing, and the
// server that was asked is not known to be the process that r was written to. Its
// word counts only if it is the master of what r is about: then nothing that runs
// elsewhere matters. Without Options.Fixed nothing is doubted.
func (p *Pipeline) Doubted(r *Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return r.conn.barrier.doubted
}

// decide records the outcome of a kill barrier. runBarriers reports it. It is
// called with mu held.
func (p *Pipeline) decide(b *killBarrier, killed bool) {
	b.decided, b.killed = true, killed
}

// runBarriers reports the outcome of decided kill barriers and drops them.
func (p *Pipeline) runBarriers() {
	p.mu.Lock()
	var run []func()
	keep := p.barriers[:0]
	for _, b := range p.barriers {
		if !b.decided {
			keep = append(keep, b)
			continue
		}
		for _, fn := range b.waiting {
			run = append(run, func() { fn(b.killed) })
		}
		b.waiting = nil
	}
	clear(p.barriers[len(keep):])
	p.barriers = keep
	p.mu.Unlock()
	for _, fn := range run {
		fn()
	}
}

// identity is what the handshake of a connection found out.
type identity struct {
	barrier  *killBarrier
	killed   []bool // of the connections that were asked for, in their order
	found    []bool // likewise
	replicas int
	server   redisconn.Server
}

// identify asks the server for its role and for its name of this connection,
// and kills the broken connections before it, all in one write. It counts
// replicas if that is wanted. Its error is the connection's. If the server
// refuses to name the connection, the kill barrier has no id. A reply that does
// not fit its command belongs to another command, and nothing on such a
// connection can be trusted.
func identify(rc redis.Conn, undecided []*killBarrier, o Options) (*identity, error) {
	x := &handshake{rc: rc, timeout: o.Timeout}
	for _, b := range undecided {
		x.send("CLIENT", "KILL", "ID", b.id, "ADDR", b.addr)
	}
	x.send("CLIENT", "ID")
	x.send("CLIENT", "INFO")
	x.send("HELLO")
	x.send("ROLE")
	if o.Replicas {
		x.send("INFO", "replication")
	}
	if o.Fixed {
		x.send("INFO", "server")
	}
	x.flush()
	ident := &identity{barrier: &killBarrier{}}
	for _, b := range undecided {
		n, refusal := x.number("CLIENT KILL")
		if x.err == nil && refusal != nil {
			o.log.Refused(b.id, b.addr, refusal)
		}
		ident.killed, ident.found = append(ident.killed, refusal == nil), append(ident.found, n > 0)
	}
	id, noID := x.number("CLIENT ID")
	info, noInfo := x.text("CLIENT INFO")
	ident.server = x.server()
	if o.Replicas {
		text, _ := x.text("INFO")
		ident.replicas = countReplicas(text)
	}
	if o.Fixed {
		text, _ := x.text("INFO")
		ident.barrier.run = field(text, "run_id:", "\r\n")
	}
	if noInfo != nil && noID == nil && x.err == nil {
		// CLIENT INFO is younger than CLIENT LIST.
		info = x.clientListLine(id)
	}
	if x.err != nil {
		return nil, x.err
	}
	if addr := field(info, " addr=", " "); addr != "" && noID == nil {
		ident.barrier.id, ident.barrier.addr, ident.barrier.at = id, addr, field(info, " laddr=", " ")
	}
	return ident, nil
}

// field is the text between a label and an end.
func field(text, label, end string) string {
	_, rest, ok := strings.Cut(text, label)
	if !ok {
		return ""
	}
	v, _, _ := strings.Cut(rest, end)
	return v
}
