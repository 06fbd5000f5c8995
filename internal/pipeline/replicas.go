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

// countReplicas reads INFO replication.
func countReplicas(info string) int {
	n, _ := strconv.Atoi(field(info, "connected_slaves:", "\r\n"))
	return n
}
