package pipeline

import (
	"os"
	"time"
)

// A batch is answered within the command timeout, or its connection is over. A timer sees
// to it, which is set for one batch and looks at the oldest when it fires: setting it for
// each batch would cost as much as encoding a command does.
//
// The reader may be late: it completed requests when the time was over, or the process
// stood still. That says nothing of the server. So the connection is over only once the
// reader has waited for as long as the batch is overdue by then, an eighth of the command
// timeout at most. A server that sends a byte now and then gains nothing by it.

// oldest is the bound of the oldest batch in flight. It is called with p.mu held.
func (c *conn) oldest() *batchBound {
	return &c.batchBounds[(c.batchCount-c.inflight)%maxInFlight]
}

// left is how long the oldest batch may still take. It is called with p.mu held.
func (c *conn) left() time.Duration {
	b := c.oldest()
	return b.sent + b.waits + c.p.o.Timeout - c.p.o.Clock.Now()
}

// guardBatches sets the timer, if it is not set. It is called with p.mu held, and a batch
// in flight.
func (c *conn) guardBatches() {
	if c.guard != nil && !c.guarded {
		c.guarded = true
		c.guard.Reset(c.left())
	}
}

// checkBatches is called by the timer.
func (c *conn) checkBatches() {
	c.p.mu.Lock()
	over := false
	if c.guarded = c.inflight > 0 && !c.released; c.guarded {
		number, left := c.batchCount-c.inflight+1, c.left()
		busy := c.busy.Load()
		over = left <= 0 && c.overdue == number && !busy && !c.wasBusy
		if left <= 0 {
			c.overdue, c.wasBusy = number, busy
			left = max(min(-left, c.p.o.Timeout/8), time.Millisecond)
		}
		c.guard.Reset(left)
	}
	c.p.mu.Unlock()
	if over {
		c.managed.Sever(os.ErrDeadlineExceeded) // may run a dialer's Close, so without the lock
	}
}
