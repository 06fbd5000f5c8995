package pipeline

import (
	"time"

	"github.com/gomodule/redigo/redis"
)

// WAIT holds up whatever stands behind it on its connection, for up to a second.
// So a batch has one, behind the last of its requests that want it, and nothing
// is written while it is in flight. It covers all that was written before.
//
// How many replicas it is for depends on who may take the master's place. Where
// nobody does, a replica that is gone is not waited for. Where one may
// (Options.Keep), a count that falls says nothing good: the former master of a
// failover takes writes for seconds, and its replicas have left it. There the
// count is the largest that was seen at this server, and no acknowledgement is
// none. It falls only if some have been there, and fewer, for a minute: one was
// taken away for good, and each WAIT would take its second.

const (
	// countSoon is how often replicas are counted while none was seen: those of a
	// new master come one after the other.
	countSoon = time.Second

	// countSeldom is how often else.
	countSeldom = 10 * time.Second

	// fewerFor is how long there are fewer replicas than there were before that is
	// how many there are.
	fewerFor = time.Minute
)

// waitTimeout is Redisson's slavesSyncTimeout.
const waitTimeout = time.Second

// recount counts the replicas again. One that did not acknowledge may be gone.
func (c *conn) recount() {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	c.queueCount()
}

// countSometimes looks for replicas that are new, where the count is kept. It is
// called with p.mu held.
func (c *conn) countSometimes(now time.Duration) {
	if c.p.o.Replicas && c.p.o.Keep && now >= c.countAt {
		c.queueCount()
	}
}

// queueCount is called with p.mu held.
func (c *conn) queueCount() {
	p := c.p
	if c.counting || c.ended {
		return
	}
	c.counting = true
	p.queue = append(p.queue, &Request{
		Command: "INFO", Args: []any{"replication"}, queued: true,
		deadline: p.o.Clock.Now() + p.o.Timeout,
		Done: CompletionFunc(func(r *Request) {
			text, err := redis.String(r.Reply, r.Err)
			p.mu.Lock()
			c.counting = false
			if err != nil {
				c.countAt = p.o.Clock.Now() + countSeldom
			}
			inUse := err == nil && p.conn == c
			if inUse {
				c.counted(countReplicas(text))
			}
			p.mu.Unlock()
			if inUse {
				p.tellTwin(c.barrier.at, countReplicas(text))
			}
		}),
	})
}

// counted takes over how many replicas the server has. It is called with p.mu
// held, of the connection in use.
func (c *conn) counted(n int) {
	p := c.p
	now := p.o.Clock.Now()
	if p.o.Keep {
		n = p.keep(n, now)
	}
	c.replicas = n
	p.waits.Store(n > 0)
	if c.countAt = now + countSeldom; n == 0 {
		c.countAt = now + countSoon
	}
}

// keep takes a count, and gives the one to go by. It is called with mu held.
func (p *Pipeline) keep(n int, now time.Duration) int {
	switch {
	case n == 0 || n >= p.most:
		p.fewer = 0
	case p.fewer == 0:
		p.fewer = max(now, 1)
	case now-p.fewer >= fewerFor:
		p.most, p.fewer = n, 0
	}
	p.most = max(p.most, n)
	return p.most
}

// twinsReplicas is the largest count that the twin has seen at this server. It is
// called without mu.
func (p *Pipeline) twinsReplicas(at string) int {
	t := p.twin()
	if t == nil || at == "" || !p.o.Keep {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.at != at {
		return 0
	}
	return t.most
}

// tellTwin tells it how many replicas the server at has now. It is called without
// mu.
func (p *Pipeline) tellTwin(at string, n int) {
	t := p.twin()
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.conn != nil && t.at == at {
		t.conn.counted(n)
	}
}

// AwaitReplicas asks once more for the replicas that r, which was answered, was
// to be followed by, on the connection that r was written to. On another one
// WAIT would answer at once: it is about what its own connection wrote. done is
// told how many acknowledged; it must not block. It is not called where that
// connection is not in use any more, or where there are no replicas by now.
// AwaitReplicas is called by r's completion, and does no I/O.
func (p *Pipeline) AwaitReplicas(r *Request, done func(acked int, err error)) Asking {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := r.conn
	switch {
	case c == nil || p.conn != c || c.ended || p.over() != nil:
		return NotAsked
	case c.replicas == 0:
		return NoneToAsk
	}
	c.repeats = append(c.repeats, done)
	return Asked
}

// Asking is what AwaitReplicas did.
type Asking uint8

const (
	NotAsked  Asking = iota // the connection is not in use any more
	NoneToAsk               // there are no replicas any more
	Asked                   // done will be called
)

// waitAgain is one WAIT for all that want it once more. It is called with p.mu
// held.
func (c *conn) waitAgain() *Request {
	repeats := c.repeats
	c.repeats = nil
	return &Request{
		Command: "WAIT", Args: []any{c.replicas, waitTimeout.Milliseconds()}, waits: true,
		Done: CompletionFunc(func(w *Request) {
			acked, err := redis.Int(w.Reply, w.Err)
			for _, done := range repeats {
				done(acked, err)
			}
		}),
	}
}

// dropRepeats ends what the connection did not live to ask.
func (c *conn) dropRepeats(cause error) {
	c.p.mu.Lock()
	repeats := c.repeats
	c.repeats = nil
	c.p.mu.Unlock()
	if cause == nil {
		cause = ErrClosed
	}
	for _, done := range repeats {
		done(0, &NotSentError{Cause: cause})
	}
}
