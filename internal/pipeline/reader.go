package pipeline

import (
	"runtime"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/refusal"
)

// letQueue lets the callers that the reader has woken queue their next commands, and
// writes those as one batch.
func (c *conn) letQueue() {
	if c.woke {
		c.woke = false
		runtime.Gosched()
	}
	c.busy.Store(false)
	c.p.WakeWriter()
}

// read completes requests until the connection breaks or its batches end.
func (c *conn) read() {
	for {
		b, reply, err := c.next()
		if b == nil {
			c.finish(nil, err)
			return
		}
		c.synced = false
		for i, r := range b {
			if i > 0 {
				reply, err = c.receive(0)
			}
			r.Reply, r.Err = reply, err
			if err = c.receiveRest(r); err != nil {
				for _, h := range c.held { // their WAIT will have no answer
					h.keepReply()
				}
				c.finish(append(c.held, b[i:]...), err)
				return
			}
			if i == 0 {
				// A server may answer a command before it gets it. The writer
				// must be done with the batch before its requests are
				// completed.
				<-c.wrote
			}
			c.complete(r)
		}
		over, standby := c.batchDone(b)
		if standby {
			over = c.standBy()
		}
		if over {
			c.finish(nil, nil)
			return
		}
	}
}

// batchDone follows the answer to a batch. It reports whether the connection is
// over, and whether the reader stands by from now on, see lone.go. If other batches
// are under way, the callers that this one has woken queue at once: the server would
// be idle while all that it has said meanwhile is dealt with.
func (c *conn) batchDone(b []*Request) (over, standby bool) {
	p := c.p
	p.mu.Lock()
	if c.synced {
		c.syncing = false
	}
	c.inflight--
	c.openRequests -= len(b)
	if c.tally != nil && c.inflight > 0 {
		c.oldest().sent = p.o.Clock.Now()
	}
	p.recycle(b)
	others := c.inflight > 0
	over = c.retired && !others
	standby = !over && !others && c.standsBy()
	p.mu.Unlock()
	if !over && (others || c.managed == nil) {
		c.letQueue()
		c.busy.Store(c.managed != nil)
	}
	return over, standby
}

// complete ends a request that was answered, or holds it until its batch's WAIT
// is, which covers all that was written before.
func (c *conn) complete(r *Request) {
	if r.Replicas > 0 && !r.sync && !r.foregone {
		c.held = append(c.held, r)
		return
	}
	c.synced = c.synced || r.sync || r.waits
	if r.sync {
		for _, h := range c.held {
			h.Replicas, h.Acked, h.Everywhere = r.Replicas, r.Acked, r.Everywhere
			c.p.complete(h)
		}
		clear(c.held)
		c.held = c.held[:0]
	}
	c.p.complete(r)
	c.woke, c.answered = true, true
}

// keepReply is called where the answer to the WAIT behind r will not come.
func (r *Request) keepReply() {
	if r.KeepReply && r.Err == nil {
		r.Acked = NotKnown
	}
}

// next waits for a batch and reads its first reply. If there is no batch the
// connection is over, for err if it is not nil.
func (c *conn) next() (b []*Request, reply any, err error) {
	if c.managed == nil {
		if b = <-c.batches; b != nil {
			c.sent = b[0].Sent // which is another use's once it was completed
			reply, err = c.receive(0)
		}
		return b, reply, err
	}
	reply, err = c.receive(0)
	select {
	case b, ok := <-c.batches:
		if !ok {
			return nil, nil, nil
		}
		return b, reply, err
	default:
	}
	if err == nil {
		err = redisconn.ErrUnasked
	}
	return nil, nil, err
}

// receive reads the next reply. A connection of a pool waits for it for as long as
// the batch may take, and for more if that is given.
func (c *conn) receive(more time.Duration) (any, error) {
	if c.managed == nil {
		left := c.p.o.Timeout
		if c.tally == nil { // else what was before it may have waited
			left = max(c.sent+left-c.p.o.Clock.Now(), time.Millisecond)
		}
		return redis.ReceiveWithTimeout(c.Conn, left+more)
	}
	for {
		if err := c.met; err != nil {
			return nil, err
		}
		reply, ok, err := c.managed.Next()
		if ok || err != nil {
			return reply, err
		}
		c.letQueue()
		err = c.managed.Fill()
		// From here on only the reader flushes. Otherwise each caller that it
		// wakes would write its own command.
		c.busy.Store(true)
		if err != nil {
			return nil, err
		}
	}
}

// receiveRest reads what else belongs to r, whose first reply has come: that to the
// command behind ASKING, and the answer to WAIT. Its error is the connection's.
func (c *conn) receiveRest(r *Request) error {
	if r.asking && (r.Err == nil || refusal.Is(r.Err)) {
		r.Reply, r.Err = c.receive(0)
	}
	if r.led() {
		c.receiveLead(r)
	}
	if r.Err != nil && !refusal.Is(r.Err) {
		return r.Err
	}
	if !r.sync {
		return nil
	}
	if err := c.receiveAcked(r); err != nil || !r.counts {
		return err
	}
	text, err := redis.String(c.receive(0))
	if err != nil {
		if refusal.Is(err) {
			return nil // what is not counted is not everywhere
		}
		r.keepReply()
		return err
	}
	c.p.mu.Lock()
	c.counted(onlineReplicas(text))
	c.p.mu.Unlock()
	if r.Replicas > 0 {
		n, _ := c.tally.expects()
		r.Replicas = max(r.Replicas, n)
		r.Everywhere = r.Acked >= max(n, c.p.o.Share.listed())
	}
	return nil
}

// receiveAcked reads the answer to the WAIT behind r. Its error is the connection's.
func (c *conn) receiveAcked(r *Request) error {
	n, err := c.receive(waitTimeout)
	if said, refused := refusal.Of(err); refused {
		if !said.Unblocked() {
			r.Replicas = 0 // a server that refuses WAIT has said nothing about replicas
		}
		return nil
	}
	if err != nil {
		r.keepReply()
		return err
	}
	acked, _ := n.(int64)
	if r.Acked = int(acked); r.Acked < r.Replicas {
		c.p.mu.Lock()
		c.queueCount() // one that did not acknowledge may be gone
		c.p.mu.Unlock()
	}
	if c.stopsWaiting(r.Acked) {
		r.Replicas = 0
	}
	return nil
}
