package pipeline

import (
	"strconv"
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/transport"
)

// fence is how the server knows one connection, and whether bytes written to
// it can still run.
type fence struct {
	id   int64  // CLIENT ID; 0 where the server would not say
	addr string // the address that the server sees
	at   string // the server's own, as it sees it; empty where it does not say

	settled bool // guarded by Pipeline.mu, like all below
	closed  bool // settled by CLIENT KILL: nothing of the connection runs any more
	waiting []func(closed bool)
}

// AfterFence calls fn once no byte of the connection that r was lost on can
// run any more (true), or once it is known that this can't be had, because
// the server refuses CLIENT ID or CLIENT KILL or the pipeline was closed
// (false). fn may run on this goroutine or a later one; it must not block.
// It is for requests that ended with a LostError.
func (p *Pipeline) AfterFence(r *Request, fn func(closed bool)) {
	f := r.link.fence
	p.mu.Lock()
	if !f.settled {
		if p.closed && p.ctx.Err() != nil {
			p.mu.Unlock()
			fn(false)
			return
		}
		f.waiting = append(f.waiting, fn)
		p.mu.Unlock()
		return
	}
	closed := f.closed
	p.mu.Unlock()
	fn(closed)
}

// settle records a fence's outcome; runFences tells it. It is called with mu
// held.
func (p *Pipeline) settle(f *fence, closed bool) {
	f.settled, f.closed = true, closed
}

// runFences tells the outcome of settled fences and drops them.
func (p *Pipeline) runFences() {
	p.mu.Lock()
	var run []func()
	keep := p.fences[:0]
	for _, f := range p.fences {
		if !f.settled {
			keep = append(keep, f)
			continue
		}
		for _, fn := range f.waiting {
			run = append(run, func() { fn(f.closed) })
		}
		f.waiting = nil
	}
	clear(p.fences[len(keep):])
	p.fences = keep
	p.mu.Unlock()
	for _, fn := range run {
		fn()
	}
}

// opening is what the first exchange on a connection told.
type opening struct {
	fence    *fence
	killed   []bool // of the fences that were asked for, in their order
	replicas int
	server   transport.Server
}

// identify asks the server who it is and how it knows this connection, and
// kills what is left of the ones before, all in one write; it counts replicas
// if that is wanted. Its error is the connection's. A server that refuses only
// leaves the fence without an id; a reply that answers something else than was
// asked belongs to somebody else's command, and nothing on such a connection
// can be believed.
func identify(c redis.Conn, old []*fence, o Options) (*opening, error) {
	x := &exchange{conn: c, timeout: o.Timeout}
	for _, k := range old {
		x.send("CLIENT", "KILL", "ID", k.id, "ADDR", k.addr)
	}
	x.send("CLIENT", "ID")
	x.send("CLIENT", "INFO")
	x.send("HELLO")
	x.send("ROLE")
	if o.Replicas {
		x.send("INFO", "replication")
	}
	x.flush()
	w := &opening{fence: &fence{}}
	for _, k := range old {
		_, refusal := x.number("CLIENT KILL")
		if x.err == nil && refusal != nil {
			o.log.Refused(k.id, k.addr, refusal)
		}
		w.killed = append(w.killed, refusal == nil)
	}
	id, noID := x.number("CLIENT ID")
	info, noInfo := x.text("CLIENT INFO")
	w.server = x.server()
	if o.Replicas {
		text, _ := x.text("INFO")
		w.replicas = countReplicas(text)
	}
	if noInfo != nil && noID == nil && x.err == nil {
		// CLIENT INFO is younger than CLIENT LIST.
		info = x.clientLine(id)
	}
	if x.err != nil {
		return nil, x.err
	}
	if addr := field(info, " addr=", " "); addr != "" && noID == nil {
		w.fence.id, w.fence.addr, w.fence.at = id, addr, field(info, " laddr=", " ")
	}
	return w, nil
}

// countReplicas reads INFO replication.
func countReplicas(info string) int {
	n, _ := strconv.Atoi(field(info, "connected_slaves:", "\r\n"))
	return n
}

// field cuts what stands between a label and an end out of a server's text.
func field(text, label, end string) string {
	_, rest, ok := strings.Cut(text, label)
	if !ok {
		return ""
	}
	v, _, _ := strings.Cut(rest, end)
	return v
}
