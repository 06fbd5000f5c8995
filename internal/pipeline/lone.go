package pipeline

import (
	"errors"
	"os"
	"time"

	"github.com/rlock-go/redisson/internal/background"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/refusal"
)

// A caller that has the connection to itself, one command after the other, waits for
// nobody but the server. The reader stands by for it: the goroutine that writes a
// command reads its reply too, and none has to be woken for it. The reader is back when
// a second caller comes, when a reply takes long, or when no command follows: the end of
// an idle connection is to be noticed.
//
// Pipeline.mu decides which goroutine reads: the reader, unless it stands by; else the
// caller that has set reading; else none, and then nothing is in flight. The fields of
// the reader belong to the goroutine that reads.

const (
	// loneGap is the longest time from one command to the next of a caller that goes
	// on and on.
	loneGap = time.Millisecond

	// loneFrom is how many such commands make a lone caller, and loneMost how many are
	// remembered. A longer gap takes away loneLess of them only, because it may come from
	// a machine that stood still.
	loneFrom = 8
	loneMost = 16
	loneLess = 4

	// standbyTick is how often a reader that stands by looks. A caller reads for two of
	// them at the most: meanwhile it does not see that its context has ended.
	standbyTick = 2 * time.Millisecond
)

// lone is what a connection knows of a caller that has it to itself. It is guarded
// by Pipeline.mu.
type lone struct {
	sent    time.Duration // when the last batch was cut
	follows int           // how many lone commands have followed each other, up to loneMost
	standby bool          // the reader stands by
	reading bool          // a caller reads; the reader stands by
	reads   int           // by callers
}

// cut takes note of a batch. It is alone if it is one request, and nothing else is
// queued or under way.
func (l *lone) cut(now time.Duration, alone bool) {
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
}

// goesOn tells whether there is a lone caller.
func (l *lone) goesOn() bool { return l.follows >= loneFrom }

// standsBy reports whether the reader stands by from now on. It is called by the
// reader, with p.mu held and nothing in flight.
func (c *conn) standsBy() bool {
	if !c.lone.goesOn() || c.p.queue.length > 0 || c.ended || c.tally != nil || !c.atOnce {
		return false
	}
	c.busy.Store(false)
	c.lone.standby = true
	return true
}

// takesRead is called by the goroutine that has just cut a batch. If none reads, nothing
// else is under way. Then that goroutine looks whether something has come (quiet), and a
// caller whose command is alone also owns the read of the reply. Without that it calls the
// reader back after its look. takesRead is called with p.mu held.
func (c *conn) takesRead(alone, caller bool) (looks, owns bool) {
	l := &c.lone
	if !l.standby || l.reading {
		return false, false
	}
	l.reading = true
	if owns = caller && alone && l.goesOn(); owns {
		l.reads++
	}
	return true, owns
}

// quiet reports whether nothing has come that nobody has asked for. If something has,
// it would be taken for the next command's reply: the reader, once it is back, ends the
// connection. The goroutine that reads calls it while nothing is under way.
func (c *conn) quiet() bool {
	some, err := c.managed.TryFill()
	if c.met = err; some {
		c.met = redisconn.ErrUnasked
	}
	return c.met == nil
}

// standBy returns when the reader is to read again, or reports that the connection
// is over.
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
			closed = nil // a caller that reads will meet the end of the connection
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
	c.busy.Store(idle) // so that nothing is under way until it has looked
	p.mu.Unlock()
	if idle {
		c.quiet()
	}
	return over
}

// callBack has the reader read again. It is called with p.mu held, while the reader
// stands by.
func (c *conn) callBack() {
	c.lone.standby, c.lone.reading = false, false
	background.Signal(c.back) // or it is on its way
}

// readOwn waits for the reply to the first request under way, which the calling
// goroutine has written, and completes it. If there is none for long, the reader waits
// for it.
func (c *conn) readOwn() {
	p := c.p
	reply, err := c.Conn.Receive()
	if err != nil && !refusal.Is(err) {
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

// hasRead follows the answer to a batch that a caller has read.
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
