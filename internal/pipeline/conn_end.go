package pipeline

import (
	"cmp"
	"errors"
	"fmt"
)

// errNoID is why a connection whose id was never known can't be killed.
var errNoID = errors.New("the server did not tell CLIENT ID or CLIENT INFO")

// finish ends a connection. If replies are expected on it, it breaks: the requests
// without one are lost, but for those of batches whose write never began. rest is what
// is left of the first batch that is not answered in full, or empty.
func (c *conn) finish(rest []*Request, cause error) {
	p := c.p
	p.mu.Lock()
	if p.backoff = p.useless.Next(); c.answered && !c.retired {
		p.useless.Reset()
		p.backoff = 0
	}
	c.end()
	breaks, at := c.inflight > 0, c.batchCount-c.inflight
	anew := breaks || c.retired
	if breaks {
		p.barriers = append(p.barriers, c.barrier)
		c.barrier.decided = c.barrier.id == 0
	}
	p.mu.Unlock()
	if breaks {
		cause = c.breaks(rest, cause)
	} else if cause != nil && p.ctx.Err() == nil {
		p.o.log.Idle(cause)
	}
	if anew {
		c.Interrupt() // a pool must not lend it again
	}
	c.release()
	p.mu.Lock()
	c.released, p.releasing = true, false
	if anew && !p.closing {
		p.connect() // even if nothing is queued: for the kill barrier, and Replaced is to be told
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
	for _, done := range c.repeats { // nobody adds to them any more
		done(0, &NotSentError{Cause: cmp.Or(cause, ErrClosed)})
	}
	p.mu.Lock()
	c.barrier.ended = true
	p.mu.Unlock()
	p.runBarriers()
	if p.o.Ended != nil && p.ctx.Err() == nil {
		p.o.Ended()
	}
	p.WakeWriter()
}

// breaks logs that the connection broke, and gives the cause as its requests are to have
// it.
func (c *conn) breaks(rest []*Request, cause error) error {
	if ne, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](cause); ok && ne.Timeout() {
		cause = fmt.Errorf("no reply within %v: %w", c.p.o.Timeout, cause)
	}
	if c.p.ctx.Err() == nil {
		c.p.o.log.Lost(cause, len(rest))
		if c.barrier.id == 0 {
			c.p.o.log.Refused(0, "", errNoID)
		}
	}
	return cause
}

// release gives the connection back. Until then no other is made: a pool with
// just enough connections would have none.
func (c *conn) release() {
	c.wmu.Lock()
	c.stuck = true
	c.wmu.Unlock()
	c.stopTracking()
	c.Release() // a pool may talk to the server; who would write meanwhile finds the connection stuck
	close(c.over)
}

// lose completes the requests of the connection's batch with this number. The
// connection was released, so begun is final.
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
