package pipeline

import "time"

// A batch is answered within the command timeout, or its connection is over. The
// read deadline that sees to it is set for one batch and stays, while that batch
// and others are answered: moving it costs as much as encoding a command does.
// When it has passed, the reader moves it to where the oldest batch wants it by
// then, and reads on. So it is moved once in a command timeout. It is moved for
// each batch where WAITs take their time, and where it must not pass: a caller's
// own connection may end by that.

// boundRead sets the read deadline to that of the oldest batch in flight, or
// removes it if there is none. It is called with p.mu held.
func (c *conn) boundRead() {
	if c.managed == nil {
		return
	}
	var at time.Time
	c.boundedBy = 0
	if c.inflight > 0 {
		number := c.batchCount - c.inflight
		b := c.batchBounds[number%maxInFlight]
		left := b.sent + c.p.o.Timeout - c.p.o.Clock.Now()
		if c.waited {
			// The batches before it may have waited too.
			left = c.p.o.Timeout + time.Duration(b.waits)*waitTimeout
		}
		at = time.Now().Add(max(left, time.Millisecond))
		c.boundedBy = number + 1
	}
	_ = c.managed.SetReadDeadline(at)
}

// expired follows a read that met the deadline. It tells whether that was the
// oldest batch's. Else the deadline is moved, and the read is to be made again.
func (c *conn) expired() bool {
	if c.exact {
		return true
	}
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	if c.inflight > 0 && c.boundedBy == c.batchCount-c.inflight+1 {
		return true
	}
	c.boundRead()
	return false
}

// timeLeft is how much longer the batch that is read on a connection of a pool may
// take.
func (c *conn) timeLeft() time.Duration {
	if c.waited {
		return c.p.o.Timeout // what was before it may have waited
	}
	return max(c.sent+c.p.o.Timeout-c.p.o.Clock.Now(), time.Millisecond)
}
