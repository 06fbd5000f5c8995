package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"os"
)

// errNoID is why a connection whose id was never known can't be killed.
var errNoID = errors.New("the server did not tell CLIENT ID or CLIENT INFO")

// finish ends a connection. If replies are expected on it, it breaks: the requests
// without one are lost, but for those of batches whose write never began. rest is what
// is left of the first batch that is not answered in full, or empty.
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
	}
	p.mu.Unlock()
	if breaks {
		cause = c.breaks(rest, cause)
	} else if cause != nil && p.ctx.Err() == nil {
		p.o.Log.Idle(cause)
	}
	c.release()
	p.mu.Lock()
	c.released, p.releasing = true, false
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
	if p.ctx.Err() == nil {
		p.o.Node.Ended()
	}
	p.WakeWriter()
}

// breaks logs that the connection broke, and gives the cause as its requests are to have
// it.
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

// release ends the connection. Until then no other is made: a pool with just enough
// connections would have none.
func (c *conn) release() {
	c.wmu.Lock()
	c.stuck = true
	c.wmu.Unlock()
	c.Release() // this may take long; meanwhile other writers find the connection stuck
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
