package pipeline

import (
	"fmt"
	"runtime"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// letQueue lets the callers that the reader has woken queue their next commands, and
// writes them as one batch.
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
				reply, err = c.receive(r.lasts)
			}
			r.Reply, r.Err = reply, err
			if err = c.receiveRest(r); err != nil {
				for _, h := range c.held { // their WAIT gets no answer
					h.keepReply()
				}
				c.finish(append(c.held, b[i:]...), err)
				return
			}
			if i == 0 {
				// A server may answer before the write has returned. The
				// writer must be done with the batch before its requests
				// are completed.
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

// batchDone does the bookkeeping after a batch was answered. It reports whether the
// connection is over, and whether the reader stands by from now on, see lone.go. If other
// batches are in flight, it lets the woken callers queue at once: otherwise the server
// would be idle while the reader handles the replies that it already has.
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
	if !over && !others && c.lone.follows >= loneFrom && p.queue.length == 0 && !c.ended && c.tally == nil && c.atOnce {
		standby, c.lone.standby = true, true
		c.busy.Store(false)
	}
	p.mu.Unlock()
	if !over && (others || c.managed == nil) {
		c.letQueue()
		c.busy.Store(c.managed != nil)
	}
	return over, standby
}

// complete ends a request that was answered, or holds it until the WAIT of its batch
// is answered too. That WAIT covers everything written before it.
func (c *conn) complete(r *Request) {
	if r.Replicas > 0 && !r.sync && !r.foregone {
		c.held = append(c.held, r)
		return
	}
	c.synced = c.synced || r.sync || r.lasts > 0
	if r.sync {
		for _, h := range c.held {
			h.Replicas, h.Acked = r.Replicas, r.Acked
			c.p.complete(h)
		}
		clear(c.held)
		c.held = c.held[:0]
	}
	c.p.complete(r)
	c.woke, c.answered = true, true
}

// keepReply is called if the answer to the WAIT behind r will not come.
func (r *Request) keepReply() {
	if r.KeepReply && r.Err == nil {
		r.Acked = NotKnown
	}
}

// next waits for a batch and reads its first reply. If it returns no batch, the
// connection is over; err is the reason, or nil after end.
func (c *conn) next() (b []*Request, reply any, err error) {
	if c.managed == nil {
		if b = <-c.batches; b != nil {
			c.sent = b[0].Sent // a copy: a completed request may be in use again
			reply, err = c.receive(b[0].lasts)
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

// receive reads the next reply. On a connection of a pool it waits for the time that the
// batch may take, plus more; elsewhere checkBatches limits the wait.
func (c *conn) receive(more time.Duration) (any, error) {
	if c.managed == nil {
		left := c.p.o.Timeout
		if c.tally == nil { // else an earlier WAIT may have delayed the batch
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
		_, err = c.managed.Fill(true)
		// From here on only the reader flushes. Otherwise each caller that it
		// wakes would write its command alone.
		c.busy.Store(true)
		if err != nil {
			return nil, err
		}
	}
}

// receiveRest reads the other replies that belong to r, whose first one has come: to the
// command behind ASKING or behind the tracking commands, to WAIT and to INFO. After an
// error the connection is over.
func (c *conn) receiveRest(r *Request) error {
	if r.Asking && (r.Err == nil || redisconn.IsRefusal(r.Err)) {
		refused := r.Err
		if r.Reply, r.Err = c.receive(0); refused != nil && redisconn.IsRefusal(r.Err) {
			r.Err = fmt.Errorf("%w (ASKING was refused: %v)", r.Err, refused)
		}
	}
	if r.begins || r.Tracked {
		c.receiveLead(r)
	}
	if r.Err != nil && !redisconn.IsRefusal(r.Err) {
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
		if redisconn.IsRefusal(err) {
			return nil // the earlier count stays
		}
		r.keepReply()
		return err
	}
	c.p.mu.Lock()
	c.counted(onlineReplicas(text), nil)
	c.p.mu.Unlock()
	if r.Replicas > 0 {
		n, _ := c.tally.expects()
		r.Replicas = max(r.Replicas, n)
	}
	return nil
}

// receiveAcked reads the answer to the WAIT behind r. After an error the connection is over.
func (c *conn) receiveAcked(r *Request) error {
	n, err := c.receive(WaitTimeout)
	if said, refused := redisconn.RefusalOf(err); refused {
		if !said.Demoted() {
			r.Replicas = 0 // a server that refuses WAIT says nothing about replicas
			c.p.notAllowed("WAIT", err)
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
