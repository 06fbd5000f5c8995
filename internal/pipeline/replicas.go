package pipeline

import (
	"errors"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// WAIT delays every command behind it on its connection, for up to a second.
// So a batch has one WAIT, behind the last of its requests that want one, and
// nothing is written while it is in flight. It covers everything written before.
//
// replicacount.go decides how many replicas it asks for.

const (
	// countSoon is how often replicas are counted while there is none, one is missing
	// or the topology lists more: those of a new master come one after the other.
	countSoon = time.Second

	// countSeldom is how often they are counted otherwise.
	countSeldom = 10 * time.Second

	// secondWord is the pause between the first two questions to the topology about one
	// loss. The first follows a WAIT of a second, so both answers are there within two
	// seconds. A Sentinel announces a planned failover within that time.
	secondWord = 700 * time.Millisecond
)

// WaitTimeout is how long a WAIT lasts at most. It is Redisson's slavesSyncTimeout.
const WaitTimeout = time.Second

// queueCount counts the replicas again. It is called with p.mu held.
func (c *conn) queueCount() {
	p := c.p
	if c.counting || c.ended {
		return
	}
	c.counting = true
	p.queue.add(&Request{
		Command: "INFO", Args: []any{"replication"},
		Deadline: p.o.Clock.Now() + p.o.Timeout,
		Done: CompletionFunc(func(r *Request) {
			text, err := redis.String(r.Reply, r.Err)
			p.mu.Lock()
			c.counting = false
			if p.conn == c && (err == nil || redisconn.IsRefusal(err)) {
				c.counted(onlineReplicas(text), err)
			}
			p.mu.Unlock()
		}),
	})
}

// counted takes the replicas that are online, and sets when to count next. A server that
// refused to list them, for the reason hidden, is taken to have those that the topology
// knows. counted is called with p.mu held, on the connection in use.
func (c *conn) counted(online []string, hidden error) {
	p := c.p
	now := p.o.Clock.Now()
	if was := p.o.Share.hidden.Swap(hidden != nil); hidden != nil {
		if p.o.Share.Known != nil {
			online = p.o.Share.Known()
		}
		if !was {
			p.wg.Go(func() { p.o.Log.ReplicasHidden(c.barrier.server.place, len(online), hidden) })
		}
	}
	soon, ask := c.tally.counted(online, now)
	n, _ := c.tally.expects()
	soon = soon || int(p.o.Share.lists.Load()) > n
	if c.countAt = now + countSeldom; soon {
		c.countAt = now + countSoon
	}
	if ask {
		p.wg.Go(func() { p.askOfLoss(c.tally) })
	}
}

// List sets how many replicas of the server the topology lists. If these are more than
// WAIT asks for, the replicas are counted at once. It does not block.
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

// Count counts the replicas of the server at once. It is for a planned failover, where the
// replica that takes over may have been added a moment ago. It does not block.
func (p *Pipeline) Count() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.conn; c != nil && c.tally != nil {
		c.queueCount()
		p.writeQueued(false)
	}
}

// askOfLoss asks the topology about a loss, and again if the answer is that the master
// stays. After any other answer the next count asks again.
func (p *Pipeline) askOfLoss(t *tally) {
	for {
		loss, gone := t.question(p.o.Clock.Now())
		if again := t.told(p.o.Node.Stays(p.ctx, gone), loss); !again || p.ctx.Err() != nil {
			return
		}
		clock.Sleep(p.ctx, secondWord)
	}
}

// Doubt says why WAIT still asks for replicas that are gone: the topology does not confirm
// that the master stays. It is nil if none are gone, or while there is no answer yet.
func (p *Pipeline) Doubt() error {
	t := p.tally.Load()
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.doubt
}

// stopsWaiting tells whether a WAIT got no acknowledgement and no replica is expected any
// longer.
func (c *conn) stopsWaiting(acked int) bool {
	n, _ := c.tally.expects()
	return acked == 0 && n == 0
}

// AwaitReplicas repeats the WAIT for r, which was answered, on the connection that r was
// written to. On another connection WAIT would return at once, because it covers only what
// its own connection wrote. done gets the number of acknowledgements, or the number asked
// for if no replica is expected by then. done must not block. If that connection is no
// longer in use, AwaitReplicas returns an error; if no replica is expected now, false and
// nil. In both cases done is not called. AwaitReplicas is called by r's completion, and
// does no I/O.
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

// waitAgain returns one WAIT for all callers of AwaitReplicas. It is called with p.mu
// held.
func (c *conn) waitAgain() *Request {
	repeats := c.repeats
	c.repeats = nil
	n, _ := c.tally.expects()
	return &Request{
		Command: "WAIT", Args: []any{n, WaitTimeout.Milliseconds()}, lasts: WaitTimeout,
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
