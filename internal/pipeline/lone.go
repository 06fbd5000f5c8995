package pipeline

import (
	"errors"
	"os"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// A lone caller sends one command after the other on a connection that no other caller
// uses. The reader then stands by: the goroutine that writes a command also reads its
// reply, so that no goroutine has to be woken. The reader reads again when a second caller
// comes, when a reply takes long, or when no command follows, so that the end of an idle
// connection is noticed.
//
// State guarded by Pipeline.mu says which goroutine reads: the reader, unless it stands by;
// else the caller that has set reading; else none, and then nothing is in flight. The
// fields of the reader belong to the goroutine that reads.

const (
	// loneGap is the longest time from one command of a lone caller to the next.
	loneGap = time.Millisecond

	// loneFrom is how many such commands make a lone caller, and loneMost how many
	// count. A longer gap takes away only loneLess of them, because the machine may
	// have paused.
	loneFrom = 8
	loneMost = 16
	loneLess = 4

	// standbyTick is how often a reader that stands by checks. A caller reads for two
	// ticks at the most, during which it does not see that its context has ended.
	standbyTick = 2 * time.Millisecond
)

// lone is what a connection knows of its lone caller. It is guarded by Pipeline.mu.
type lone struct {
	sent    time.Duration // when the last batch was cut
	follows int           // lone commands in sequence, up to loneMost
	standby bool          // the reader stands by
	reading bool          // a caller reads; the reader stands by
	reads   int           // reads by callers so far
}

// takesRead is called, with p.mu held, by the goroutine that cuts a batch. The batch is alone if it
// is one request with one reply, and no other is queued or in flight. If no goroutine reads, nothing
// else is in flight. Then that goroutine looks for unexpected input (quiet), and owns the read of
// the reply if it is a caller whose command is alone. If it does not own the read, it calls the
// reader back after its look.
func (c *conn) takesRead(now time.Duration, alone, caller bool) (looks, owns bool) {
	l := &c.lone
	gap := now - l.sent
	l.sent = now
	switch {
	case !alone:
		l.follows = 0
	case gap > loneGap:
		l.follows = max(l.follows-loneLess, 0)
	default:
		l.follows = min(l.follows+1, loneMost)
	}
	if !l.standby || l.reading {
		return false, false
	}
	l.reading = true
	if owns = caller && alone && l.follows >= loneFrom; owns {
		l.reads++
	}
	return true, owns
}

// quiet reports that no unexpected input has come. Such input would be taken for the next
// command's reply, so the reader ends the connection when it is back. The goroutine that
// reads calls quiet while nothing is in flight.
func (c *conn) quiet() bool {
	some, err := c.managed.Fill(false)
	if c.met = err; some {
		c.met = redisconn.ErrUnasked
	}
	return c.met == nil
}

// standBy returns when the reader has to read again, or when the connection is over.
func (c *conn) standBy() (over bool) {
	p := c.p
	tick := time.NewTicker(standbyTick)
	defer tick.Stop()
	closed := p.ctx.Done()
	cutShort := false // the read deadline was moved to end a caller's read
	for seen := -1; ; {
		select {
		case <-c.back:
		case <-tick.C:
		case <-closed:
			closed = nil // a caller that reads sees the end of the connection itself
		}
		p.mu.Lock()
		l := &c.lone
		if l.standby && !l.reading && (l.reads == seen || closed == nil || c.ended) {
			l.standby = false
		}
		if !l.standby {
			break
		}
		if l.reading && l.reads == seen {
			cutShort = true
			_ = c.managed.SetReadDeadline(time.Unix(1, 0))
		}
		seen = l.reads
		p.mu.Unlock()
	}
	if cutShort {
		_ = c.managed.SetReadDeadline(time.Time{})
	}
	idle := c.inflight == 0
	over = c.retired && idle
	c.busy.Store(idle) // nothing is written until quiet has looked
	p.mu.Unlock()
	if idle {
		c.quiet()
	}
	return over
}

// callBack makes the reader read again. It is called with p.mu held, while the reader
// stands by.
func (c *conn) callBack() {
	c.lone.standby, c.lone.reading = false, false
	clock.Signal(c.back) // no-op if a signal is pending
}

// readOwn waits for the reply to the first request in flight, which the calling goroutine
// has written, and completes the request. If the reply takes long, the reader takes over.
func (c *conn) readOwn() {
	p := c.p
	reply, err := c.Conn.Receive()
	if err != nil && !redisconn.IsRefusal(err) {
		p.mu.Lock()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			c.met = err
		}
		c.callBack()
		p.mu.Unlock()
		return
	}
	b := <-c.batches
	<-c.wrote
	c.busy.Store(true)
	defer c.hasRead(b)
	b[0].Reply, b[0].Err = reply, err
	c.complete(b[0])
}

// hasRead does the bookkeeping after a caller has read the reply to its batch.
func (c *conn) hasRead(b []*Request) {
	p := c.p
	c.woke = false
	p.mu.Lock()
	defer p.mu.Unlock()
	c.inflight--
	c.openRequests -= len(b)
	p.recycle(b)
	c.lone.reading = false
	c.busy.Store(false)
	if c.inflight > 0 || c.retired {
		c.callBack()
	}
	p.writeQueued(false)
}
