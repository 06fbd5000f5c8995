package pipeline

import (
	"strconv"
	"time"

	"github.com/gomodule/redigo/redis"
)

// waitTimeout is Redisson's slavesSyncTimeout.
const waitTimeout = time.Second

// recount counts the replicas again. One that did not acknowledge may be gone,
// and without replicas there is nothing to wait for.
func (c *conn) recount() {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.counting || c.ended {
		return
	}
	c.counting = true
	p.queue = append(p.queue, &Request{
		Command: "INFO", Args: []any{"replication"}, queued: true,
		deadline: p.o.Clock.Now() + p.o.Timeout,
		Done: CompletionFunc(func(r *Request) {
			p.mu.Lock()
			defer p.mu.Unlock()
			c.counting = false
			if text, err := redis.String(r.Reply, r.Err); err == nil {
				c.replicas = countReplicas(text)
			}
		}),
	})
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
	c.repeats = append(c.repeats, &Request{
		Command: "WAIT", Args: []any{c.replicas, waitTimeout.Milliseconds()}, waits: true,
		Done: CompletionFunc(func(w *Request) { done(redis.Int(w.Reply, w.Err)) }),
	})
	return Asked
}

// Asking is what AwaitReplicas did.
type Asking uint8

const (
	NotAsked  Asking = iota // the connection is not in use any more
	NoneToAsk               // there are no replicas any more
	Asked                   // done will be called
)

// dropRepeats ends WAITs that the connection did not live to send.
func (c *conn) dropRepeats(cause error) {
	c.p.mu.Lock()
	repeats := c.repeats
	c.repeats = nil
	c.p.mu.Unlock()
	if cause == nil {
		cause = ErrClosed
	}
	unsent(repeats, cause)
}

// countReplicas reads INFO replication.
func countReplicas(info string) int {
	n, _ := strconv.Atoi(field(info, "connected_slaves:", "\r\n"))
	return n
}
