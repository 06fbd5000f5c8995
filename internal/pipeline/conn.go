package pipeline

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/command/refusal"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// errNoID is why a connection whose id was never known can't be killed.
var errNoID = errors.New("the server did not tell CLIENT ID or CLIENT INFO")

// conn is one connection in use.
type conn struct {
	*redisconn.Owned
	p        *Pipeline
	barrier  *killBarrier
	managed  managed         // nil for a connection of a pool
	pusher   pusher          // nil likewise
	batches  chan []*Request // written or being written, in order
	wrote    chan struct{}   // one for each batch that is not being written any more
	wmu      sync.Mutex      // held while writing; guards broken, begun and stuck
	woke     bool            // a batch was completed since the last pause; the reader's
	answered bool            // something was; the reader's
	waited   bool            // WAIT may have been sent; never changes
	held     []*Request      // answered, but for the WAIT of their batch; the reader's
	synced   bool            // the batch had a WAIT; the reader's
	broken   bool            // nothing is written any more, and batches are their completions' again
	begun    int             // batches of which something may have been written
	stuck    bool            // a write has failed, so that nothing follows it
	returned int             // batches that were answered in full; the reader's

	// All below is guarded by p.mu.
	writing      bool
	busy         bool                         // the reader has replies to deal with, and will flush
	inflight     int                          // batches
	openRequests int                          // requests in them
	ended        bool                         // batches is closed
	retired      bool                         // given up although it works: see Retire
	batchCount   int                          // batches so far
	batchBounds  [maxInFlight]batchBound      // of those in flight, by their number
	replicas     int                          // how many WAIT is asked for
	counting     bool                         // they are being counted again
	countAt      time.Duration                // when they are to be counted again, see Options.KeepReplicas
	syncing      bool                         // a WAIT is in flight: whatever is sent stands behind it
	repeats      []func(acked int, err error) // want a WAIT once more on this connection
}

// batchBound is the time that a batch may take.
type batchBound struct {
	sent  time.Duration
	waits int // the WAITs in it, one or none, which may rightly take a second
}

// managed is a connection whose read deadlines are set from outside, so that a
// read is always under way and the end of an idle connection is noticed at once.
type managed interface {
	Manage(before func() (expected bool), after func())
	SetReadDeadline(time.Time) error
}

// pusher is a connection that encodes commands itself and writes them together.
type pusher interface {
	Queue(command string, args []any) error
	Push() error
}

// beforeRead is called before the reader waits for the network. The callers
// that it has woken queue their next commands, which become one batch. It
// reports whether replies are expected.
func (c *conn) beforeRead() (expected bool) {
	p := c.p
	if c.woke {
		c.woke = false
		runtime.Gosched()
	}
	p.mu.Lock()
	c.busy = false
	p.mu.Unlock()
	p.Flush()
	p.mu.Lock()
	defer p.mu.Unlock()
	return c.inflight > 0
}

// afterRead is called when the read has ended. From here on only the reader
// flushes. Otherwise each caller that it wakes would write its own command.
func (c *conn) afterRead() {
	p := c.p
	p.mu.Lock()
	c.busy = true
	p.mu.Unlock()
}

// boundRead sets the read deadline to that of the oldest batch in flight, or
// removes it if there is none. It is called with p.mu held.
func (c *conn) boundRead() {
	if c.managed == nil {
		return
	}
	var at time.Time
	if c.inflight > 0 {
		b := c.batchBounds[(c.batchCount-c.inflight)%maxInFlight]
		left := b.sent + c.p.o.Timeout - c.p.o.Clock.Now()
		if c.waited {
			// The batches before it may have waited too.
			left = c.p.o.Timeout + time.Duration(b.waits)*waitTimeout
		}
		at = time.Now().Add(max(left, time.Millisecond))
	}
	_ = c.managed.SetReadDeadline(at)
}

// write sends a batch. An error needs no handling here: the stream is closed
// then, and the reader sees it.
func (c *conn) write(b []*Request) {
	defer func() { c.wrote <- struct{}{} }() // never blocks, as batches
	c.wmu.Lock()
	defer c.wmu.Unlock()
	if c.broken || c.stuck {
		return
	}
	c.begun++
	if c.pusher != nil {
		if c.stuck = c.send(b, c.pusher.Queue) != nil || c.pusher.Push() != nil; c.stuck {
			c.Interrupt()
		}
		return
	}
	c.stuck = c.send(b, func(command string, args []any) error { return c.Conn.Send(command, args...) }) != nil ||
		c.Conn.Flush() != nil
}

func (c *conn) send(b []*Request, send func(command string, args []any) error) error {
	for _, r := range b {
		if r.asking {
			if err := send("ASKING", nil); err != nil {
				return err
			}
		}
		if err := send(r.Command, r.Args); err != nil {
			return err
		}
		if r.sync {
			if err := send("WAIT", []any{r.Replicas, waitTimeout.Milliseconds()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// read completes requests until the connection breaks or its batches end.
func (c *conn) read() {
	p := c.p
	for {
		b, reply, err := c.next()
		if b == nil {
			c.finish(err)
			return
		}
		left := c.timeLeft(b)
		c.synced = false
		for i, r := range b {
			if i > 0 {
				reply, err = redis.ReceiveWithTimeout(c.Conn, left)
			}
			if err = c.receiveReply(r, reply, err, left); err != nil {
				c.keepReplies()
				c.fail(append(c.held, b[i:]...), err)
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
		c.returned++
		p.mu.Lock()
		if c.synced {
			c.syncing = false
		}
		c.inflight--
		c.openRequests -= len(b)
		c.boundRead()
		p.recycle(b)
		last := c.retired && c.inflight == 0
		p.mu.Unlock()
		if last {
			c.finish(nil)
			return
		}
		if c.managed == nil {
			c.beforeRead()
		}
	}
}

// complete ends a request that was answered, or holds it until its batch's WAIT
// is, which covers all that was written before.
func (c *conn) complete(r *Request) {
	if r.Replicas > 0 && !r.sync {
		c.held = append(c.held, r)
		return
	}
	c.synced = c.synced || r.sync || r.waits
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

// keepReplies is called where the answer to the WAIT of those that are held will
// not come.
func (c *conn) keepReplies() {
	for _, h := range c.held {
		h.keepReply()
	}
}

func (r *Request) keepReply() {
	if r.KeepReply && r.Err == nil {
		r.kept, r.Acked = true, NotKnown
	}
}

// next waits for a batch and reads its first reply. If there is no batch the
// connection is over, for err if it is not nil.
func (c *conn) next() (b []*Request, reply any, err error) {
	if c.managed == nil {
		b, ok := <-c.batches
		if !ok {
			return nil, nil, nil
		}
		reply, err = redis.ReceiveWithTimeout(c.Conn, c.timeLeft(b))
		return b, reply, err
	}
	reply, err = c.Conn.Receive()
	select {
	case b, ok := <-c.batches:
		if !ok {
			return nil, nil, nil
		}
		return b, reply, err
	default:
	}
	if err == nil {
		err = fmt.Errorf("a reply to nothing: a Go %T", reply)
	}
	return nil, nil, err
}

// timeLeft is how much longer a batch may take.
func (c *conn) timeLeft(b []*Request) time.Duration {
	if c.managed != nil {
		return 0
	}
	if c.waited {
		return c.p.o.Timeout // what was before it may have waited
	}
	return max(b[0].Sent+c.p.o.Timeout-c.p.o.Clock.Now(), time.Millisecond)
}

// receiveReply gives r its reply, behind that to ASKING, and reads the answer to
// WAIT, if those were sent. Its error is the connection's.
func (c *conn) receiveReply(r *Request, reply any, err error, timeout time.Duration) error {
	if r.asking && (err == nil || refusal.Is(err)) {
		reply, err = redis.ReceiveWithTimeout(c.Conn, timeout)
	}
	r.Reply, r.Err = reply, err
	if err != nil && !refusal.Is(err) {
		return err
	}
	if !r.sync {
		return nil
	}
	if timeout > 0 {
		timeout += waitTimeout
	}
	n, err := redis.ReceiveWithTimeout(c.Conn, timeout)
	if err != nil && !refusal.Is(err) {
		r.keepReply()
		return err
	}
	if err != nil {
		if said, _ := refusal.Of(err); !said.Unblocked() {
			r.Replicas = 0 // a server that refuses WAIT has said nothing about replicas
		}
		return nil
	}
	acked, _ := n.(int64)
	if r.Acked = int(acked); r.Acked == 0 {
		c.recount()
	}
	return nil
}
