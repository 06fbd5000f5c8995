package pipeline

import (
	"os"
	"time"
)

// A connection ends when a batch is not answered within the command timeout. A timer
// checks the oldest batch. It is not set anew for each batch, because that would cost as
// much as encoding a command.
//
// The reader may be late although the server is not: it was completing requests when the
// time was up, or the process was paused. So the reader gets more time to wait, as long as
// the batch is overdue when the timer fires, at most an eighth of the command timeout. A
// server does not gain time by sending a byte now and then.

// oldest is the bound of the oldest batch in flight. It is called with p.mu held.
func (c *conn) oldest() *batchBound {
	return &c.batchBounds[(c.batchCount-c.inflight)%maxInFlight]
}

// left is the time that the oldest batch has left. It is called with p.mu held.
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
