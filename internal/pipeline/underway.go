package pipeline

import "sync/atomic"

// UnderWay counts the connections of a client that have something under way. It
// is for a client that has several. The zero value is ready.
//
// A reader that polls takes the processor from the other readers, and theirs are
// the replies that come next. So while several connections have something under
// way, their readers sleep. Each of them by itself would find that it waits for a
// shorter time if it polls (redisconn): it does not see what that costs the
// others.
type UnderWay struct{ connections atomic.Int64 }

// busier is called with p.mu held when c has its first batch under way, or not
// even one any more.
func (c *conn) busier(by int64) {
	if all := c.p.o.UnderWay; all != nil {
		all.connections.Add(by)
	}
}

// polls tells the reader whether replies are worth polling for. Only it takes
// batches, so there are none if none is in flight.
func (c *conn) polls() bool {
	all := c.p.o.UnderWay
	return len(c.batches) > 0 && (all == nil || all.connections.Load() <= 1)
}
