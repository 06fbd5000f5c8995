package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"os"
)

// errNoID says why a connection with an unknown id can't be killed.
var errNoID = errors.New("the server did not tell CLIENT ID or CLIENT INFO")

// finish ends a connection. If replies are still expected, the connection breaks: the
// requests without a reply are lost, or not sent if the write of their batch never began.
// rest has the unanswered requests of a batch that was answered in part; it may be empty.
func (c *conn) finish(rest []*Request, cause error) {
	p := c.p
	p.mu.Lock()
	if c.answered && !c.retired {
		p.link.Worked()
	} else {
		p.link.Failed(false)
	}
	c.end()
	breaks, at := c.inflight > 0, c.batchCount-c.inflight
	anew := breaks || c.retired
	if breaks {
		p.barriers = append(p.barriers, c.barrier)
		c.barrier.decided = c.barrier.id == 0
		c.barrier.silent = errors.Is(cause, os.ErrDeadlineExceeded)
	}
	p.mu.Unlock()
	if breaks {
		cause = c.breaks(rest, cause)
	} else if cause != nil && p.ctx.Err() == nil {
		p.o.Log.Idle(cause)
	}
	c.wmu.Lock()
	c.stuck = true
	c.wmu.Unlock()
	c.Release() // may take long; meanwhile other writers find the connection stuck
	close(c.over)
	p.mu.Lock()
	c.released, p.ending = true, nil // no other is made before: a pool with just enough connections would have none left
	if c.guard != nil {
		c.guard.Stop() // it would keep the connection's buffers alive until it fires
	}
	if anew && !p.closing {
		p.connect() // even if nothing is queued: for the kill barrier, and for Node.Connected
	}
	p.mu.Unlock()
	if len(rest) > 0 {
		c.lose(at, rest, cause)
		at++
	}
	for b := range c.batches {
		c.lose(at, b, cause)
		at++
	}
	for _, done := range c.repeats { // no more are added
		done(0, &NotSentError{Cause: cmp.Or(cause, ErrClosed)})
	}
	p.mu.Lock()
	c.barrier.ended = true
	p.mu.Unlock()
	p.runBarriers()
	if p.o.Node.Ended != nil && p.ctx.Err() == nil {
		p.o.Node.Ended()
	}
	p.WakeWriter()
}

// breaks logs that the connection broke, and returns the cause that its requests report.
func (c *conn) breaks(rest []*Request, cause error) error {
	if errors.Is(cause, os.ErrDeadlineExceeded) {
		cause = fmt.Errorf("no reply within %v: %w", c.p.o.Timeout, cause)
	}
	if c.p.ctx.Err() == nil {
		c.p.o.Log.Lost(cause, len(rest))
		if c.barrier.id == 0 {
			c.p.o.Log.Refused(0, "", errNoID)
		}
	}
	return cause
}

// lose completes the requests of the batch with this number. The connection was
// released before, so begun is final.
func (c *conn) lose(number int, rs []*Request, cause error) {
	for _, r := range rs {
		switch {
		case r.Acked == NotKnown: // its reply has come
		case number < c.begun:
			r.Reply, r.Err = nil, &LostError{Cause: cause}
		default:
			r.Reply, r.Err = nil, &NotSentError{Cause: cause}
		}
		r.Done.Complete(r)
	}
}
