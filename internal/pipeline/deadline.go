package pipeline

import (
	"errors"
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

// Long before that, a silent server makes the topology look for another master, and ends the
// wait for answers of a node that has left.

// silentAfter is how long a server may take for a batch until it counts as silent.
const silentAfter = time.Second

// errSilent is what the topology is told of it.
var errSilent = errors.New("the server is silent")

// silent tells whether the oldest batch in flight waits for a silent server. It is called
// with p.mu held.
func (c *conn) silent() bool { return c.inflight > 0 && c.p.o.Timeout-c.left() >= silentAfter }

// oldest is the bound of the oldest batch in flight. It is called with p.mu held.
func (c *conn) oldest() *batchBound {
	return &c.batchBounds[(c.batchCount-c.inflight)%maxInFlight]
}

// left is the time that the oldest batch has left. It is called with p.mu held.
func (c *conn) left() time.Duration {
	b := c.oldest()
	return b.sent + b.waits + c.p.o.Timeout - c.p.o.Clock.Now()
}

// checkBatches is called by the timer.
func (c *conn) checkBatches() {
	c.p.mu.Lock()
	over, silent := false, false
	if c.guarded = c.inflight > 0 && !c.released; c.guarded {
		number, left := c.batchCount-c.inflight+1, c.left()
		busy := c.busy.Load()
		over = left <= 0 && c.overdue == number && !busy && !c.wasBusy
		silent = c.silent() && !busy
		if left <= 0 {
			c.overdue, c.wasBusy = number, busy
			left = max(min(-left, c.p.o.Timeout/8), time.Millisecond)
		}
		c.guard.Reset(min(left, silentAfter))
	}
	c.p.mu.Unlock()
	if silent && c.p.o.Node.Trouble != nil {
		c.p.o.Node.Trouble(errSilent)
	}
	if over {
		c.managed.Sever(os.ErrDeadlineExceeded) // may run a dialer's Close, so without the lock
	}
}
