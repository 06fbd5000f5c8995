package pipeline

import (
	"errors"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/background"
)

// WAIT delays every command behind it on its connection, for up to a second.
// So a batch has one, behind the last of its requests that want it, and nothing
// is written while it is in flight. It covers all that was written before.
//
// How many replicas it is for, replicacount.go decides.

const (
	// countSoon is how often replicas are counted while there is none, one is missing
	// or the topology lists more: those of a new master come one after the other.
	countSoon = time.Second

	// countSeldom is how often else.
	countSeldom = 10 * time.Second

	// secondWord is how long after its first word about a loss the topology is asked
	// for the second. The first follows a WAIT, of a second, so that both are there
	// within two seconds. A Sentinel tells of a planned failover within that time.
	secondWord = 700 * time.Millisecond
)

// waitTimeout is Redisson's slavesSyncTimeout.
const waitTimeout = time.Second

// queueCount counts the replicas again. It is called with p.mu held.
func (c *conn) queueCount() {
	p := c.p
	if c.counting || c.ended {
		return
	}
	c.counting = true
	p.queue.add(&Request{
		Command: "INFO", Args: []any{"replication"},
		deadline: p.o.Clock.Now() + p.o.Timeout,
		Done: CompletionFunc(func(r *Request) {
			text, err := redis.String(r.Reply, r.Err)
			p.mu.Lock()
			c.counting = false
			if err != nil {
				c.countAt = p.o.Clock.Now() + countSeldom
			}
			if err == nil && p.conn == c {
				c.counted(onlineReplicas(text))
			}
			p.mu.Unlock()
		}),
	})
}

// counted takes over which replicas the server has. It is called with p.mu held, of
// the connection in use.
func (c *conn) counted(online []string) {
	p := c.p
	now := p.o.Clock.Now()
	soon, ask := c.tally.counted(online, now)
	n, _ := c.tally.expects()
	soon = soon || p.o.Share.listed() > n
	if c.countAt = now + countSeldom; soon {
		c.countAt = now + countSoon
	}
	if ask {
		p.wg.Go(func() { p.askOfLoss(c.tally) })
	}
}

// List takes how many replicas of the server the topology lists. If they are more than
// were counted, they are counted at once. It does not block.
func (p *Pipeline) List(replicas int) {
	p.o.Share.lists.Store(int64(replicas))
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.conn
	if c == nil {
		return
	}
	if n, _ := c.tally.expects(); c.tally != nil && replicas > n {
		c.queueCount()
		p.writeQueued(false)
	}
}

// Count has the replicas of the server counted at once: one of them is about to take its
// place, and may have come a moment ago. It does not block.
func (p *Pipeline) Count() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.conn; c != nil && c.tally != nil {
		c.queueCount()
		p.writeQueued(false)
	}
}

// askOfLoss asks the topology about a loss, and once more if its word is that the
// master stays. Else the next count has it asked again.
func (p *Pipeline) askOfLoss(t *tally) {
	for {
		loss, gone := t.question()
		if again := t.told(p.o.Node.Stays(p.ctx, gone), loss); !again || p.ctx.Err() != nil {
			return
		}
		background.Sleep(p.ctx, secondWord)
	}
}

// Doubt is why replicas that are gone are still waited for: the topology does not say
// that the master stays. Nil: none is, or it was not asked so far.
func (p *Pipeline) Doubt() error {
	t := p.tally.Load()
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.doubt
}

// stopsWaiting tells whether a WAIT without acknowledgements was the last one: no replica
// is waited for now.
func (c *conn) stopsWaiting(acked int) bool {
	n, _ := c.tally.expects()
	return acked == 0 && n == 0
}

// AwaitReplicas asks once more for the replicas that r, which was answered, was
// to be followed by, on the connection that r was written to. On another one
// WAIT would answer at once: it is about what its own connection wrote. done gets the
// number of acknowledgements, or that of all replicas if none is waited for by then. It
// must not block. asks is false, and done is not called, if that connection is no longer in
// use, which is an error, or if there are no replicas by now. AwaitReplicas is called by
// r's completion, and does no I/O.
func (p *Pipeline) AwaitReplicas(r *Request, done func(acked int, err error)) (asks bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := r.conn
	if c == nil || p.conn != c || c.ended || p.over != nil {
		return false, errConnEnded
	}
	if n, _ := c.tally.expects(); n == 0 {
		return false, nil
	}
	c.repeats = append(c.repeats, done)
	return true, nil
}

var errConnEnded = errors.New("the connection is not in use any more")

// waitAgain is one WAIT for all that want it once more. It is called with p.mu
// held.
func (c *conn) waitAgain() *Request {
	repeats := c.repeats
	c.repeats = nil
	n, _ := c.tally.expects()
	return &Request{
		Command: "WAIT", Args: []any{n, waitTimeout.Milliseconds()}, waits: true,
		Done: CompletionFunc(func(w *Request) {
			acked, err := redis.Int(w.Reply, w.Err)
			if err == nil && c.stopsWaiting(acked) {
				acked = n
			}
			for _, done := range repeats {
				done(acked, err)
			}
		}),
	}
}
