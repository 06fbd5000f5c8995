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
		if c.tally != nil {
			// The batches before it may have waited too.
			left = c.p.o.Timeout + time.Duration(b.waits)*waitTimeout
		}
		at = time.Now().Add(max(left, time.Millisecond))
		c.boundedBy = number + 1
	}
	c.boundAt = at
	_ = c.managed.SetReadDeadline(at)
}

// expired follows a read that met the deadline, with err. It tells whether that was
// the oldest batch's, and nothing has come. Else the deadline is moved, and the read
// is to be made again.
//
// The reader may have met the deadline late, since it completed requests when it
// passed. That says nothing of the server. So what has come meanwhile is read first,
// for as long as the reader was late, an eighth of the command timeout at most.
func (c *conn) expired(err error) bool {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	if !c.exact && (c.inflight == 0 || c.boundedBy != c.batchCount-c.inflight+1) {
		c.boundRead()
		return false
	}
	if c.late != nil || c.inflight == 0 {
		return true
	}
	c.late = err
	late := min(time.Since(c.boundAt), c.p.o.Timeout/8)
	c.boundAt = time.Now().Add(max(late, time.Millisecond))
	_ = c.managed.SetReadDeadline(c.boundAt)
	return false
}
