package pipeline

import (
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

const (
	// batchSplit is how many batches the open requests are split into, so that
	// some are at the server while others are here. With 16 to 1,024 callers,
	// two to four batches gain 3 to 8 percent.
	batchSplit = 3

	// leastBatch is the size up to which batches are not split.
	leastBatch = 4
)

// Flush writes the queued requests, as far as the batches in flight allow. The rest is
// written when a batch returns. Flush does not wait for a write. It may read from the
// connection for up to four milliseconds, see lone.go, and so may complete requests on the
// calling goroutine.
func (p *Pipeline) Flush() {
	p.mu.Lock()
	own := p.writeQueued(true)
	p.mu.Unlock()
	if own != nil {
		own.readOwn()
	}
}

// WakeWriter is Flush without the reading, for callers that must not block.
func (p *Pipeline) WakeWriter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writeQueued(false)
}

// writeQueued writes what can be written without waiting, and leaves the rest to the
// writer. With caller, which means that the calling goroutine may read, it returns the
// connection whose next reply that goroutine has to read, or nil. It is called with mu
// held, and releases mu while it writes.
func (p *Pipeline) writeQueued(caller bool) (own *conn) {
	for p.ready() {
		c := p.conn
		done, owns := false, false
		if c.atOnce {
			done, owns = c.writeBatch(caller, false)
		}
		if owns {
			own = c
		}
		if !done {
			c.wakeWriter()
			break
		}
	}
	return own
}

// wakeWriter makes the connection's writer write, the only goroutine that may wait for a
// write. It is called with p.mu held, for a connection that was not released.
func (c *conn) wakeWriter() {
	c.writer.Do(func() { c.p.wg.Go(c.writeAll) })
	clock.Signal(c.wake)
}

// writeAll is the writer. It runs until the connection was released.
func (c *conn) writeAll() {
	p := c.p
	for {
		select {
		case <-c.wake:
		case <-c.over:
			return
		}
		p.mu.Lock()
		for c.handed || p.ready() && p.conn == c {
			c.writeBatch(false, true)
		}
		p.mu.Unlock()
	}
}

// ready tells whether there is something to write and a connection that can take
// it now. If there is no connection, it starts to make one, and else it ends the
// requests whose Until has passed. It is called with mu held.
func (p *Pipeline) ready() bool {
	c := p.conn
	if c != nil {
		if c.writing || c.busy.Load() || c.inflight == maxInFlight || c.syncing {
			return false
		}
		late := p.queue.remove(func(r *Request) bool { return r.Until > 0 && r.Until < p.o.Clock.Now() })
		if len(late) > 0 {
			p.wg.Go(func() { unsent(late, errLate) }) // not on this goroutine, which holds mu
		}
	}
	pending := p.queue.length > 0 || p.discardNow && len(p.discards) > 0 || c != nil && len(c.repeats) > 0
	if pending && c == nil {
		p.connect()
	}
	return pending && c != nil
}

// writeBatch writes the rest of a batch, or cuts and writes a new one. Without wait it is
// not done if the write would have to wait. owns reports whether the caller has to read the
// reply. It is called with p.mu held, and releases p.mu while it writes.
func (c *conn) writeBatch(caller, wait bool) (done, owns bool) {
	p := c.p
	looks := false
	if c.handed {
		c.handed = false
	} else {
		looks, owns = p.cutBatch(caller)
		if c.guard != nil && !c.guarded {
			c.guarded = true
			c.guard.Reset(min(c.left(), silentAfter))
		}
	}
	p.mu.Unlock()
	if looks && !c.quiet() {
		owns = false
		c.wmu.Lock()
		c.stuck = true // the batch that was cut is not sent
		c.wmu.Unlock()
	}
	if looks && !owns {
		p.mu.Lock()
		c.callBack()
		p.mu.Unlock()
	}
	done = c.write(wait)
	p.mu.Lock()
	if owns && !done {
		owns = false
		c.callBack()
	}
	c.writing = !done && !c.released
	c.handed = c.writing
	return !c.writing, owns
}

// cutBatch takes the queue, or a part of it that makes a good batch, to be written. It
// returns what takesRead says of that. It is called with mu held.
func (p *Pipeline) cutBatch(caller bool) (looks, owns bool) {
	c := p.conn
	n, online := c.tally.expects()
	var b []*Request
	if last := len(p.spares) - 1; last >= 0 {
		b, p.spares = p.spares[last], p.spares[:last]
	}
	// Callers whose commands go together come back together, and until then the
	// server has nothing to do. With the requests split, some are at the server
	// while others are here. But with replicas to wait for, a request would wait
	// for two more batches.
	most := p.queue.length
	if n == 0 {
		most = min(most, max((most+c.openRequests)/batchSplit, leastBatch))
	}
	b = p.queue.cut(b, most)
	if n > 0 {
		b = c.loadFirst(b)
	}
	if len(c.repeats) > 0 {
		b = append(b, c.waitAgain())
	}
	if len(p.discards) > 0 || p.discardNow {
		b = p.cutDiscards(b)
	}
	p.batches++
	now := p.o.Clock.Now()
	waits := time.Duration(0)
	var sync *Request
	counts := false
	for _, r := range b {
		p.lastSent = max(now, p.lastSent+1) // later than that of any earlier request
		r.Sent, r.conn, r.batch = p.lastSent, c, p.batches
		r.Replicas, r.Acked, r.sync, r.foregone = 0, 0, false, false
		r.counts, r.Lasting = false, 0
		r.begins, r.Tracked = false, false
		if r.Track {
			c.track(r)
		}
		if r.Wait && c.tally != nil && now >= c.countAt {
			c.queueCount() // there may be new replicas
		}
		if r.Wait && r.Counts {
			r.Lasting = c.tally.lasting()
		}
		if r.Wait && n > 0 {
			if r.Replicas, r.foregone = n, r.Tentative && !online; !r.foregone {
				sync = r
				counts = counts || r.Counts
			}
		}
		if r.lasts > 0 {
			c.syncing = true
			waits += r.lasts
		}
	}
	if sync != nil {
		sync.sync, sync.counts, c.syncing = true, counts, true
		waits += WaitTimeout
	}
	alone := c.inflight == 0 && len(b) == 1 && p.queue.length == 0 &&
		!b[0].Asking && !b[0].begins && !b[0].Tracked && !b[0].sync && b[0].lasts == 0
	c.openRequests += len(b)
	c.batchBounds[c.batchCount%maxInFlight] = batchBound{now, waits}
	c.batchCount++
	c.inflight++
	c.writing, c.unsent = true, b
	c.batches <- b // never blocks: room for every batch that may be in flight
	return c.takesRead(now, alone, caller)
}

// write sends the rest of the batch that is being written. Without wait it sends what
// the socket takes at once, and is not done if that is not all. It returns no error:
// the connection is closed after one, and the reader sees that.
func (c *conn) write(wait bool) (done bool) {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	if !c.stuck {
		c.begun = c.batchCount // the number of this batch: none is cut during a write
		all, err := c.push(wait)
		if c.stuck = err != nil; c.stuck && c.managed != nil {
			c.Interrupt()
		}
		if !all && err == nil {
			return false
		}
	}
	c.unsent = nil
	c.wrote <- struct{}{} // never blocks, for the same reason as batches
	return true
}

// push queues the rest of the batch on the pusher and pushes it, for write.
func (c *conn) push(wait bool) (all bool, err error) {
	for i, r := range c.unsent {
		if r.Asking {
			_, err = c.pusher.Queue("ASKING", nil, wait)
		}
		if r.begins || r.Tracked {
			err = c.pushLead(r, wait)
		}
		if err == nil {
			all, err = c.pusher.Queue(r.Command, r.Args, wait)
		}
		if r.sync && err == nil {
			all, err = c.pusher.Queue("WAIT", []any{r.Replicas, WaitTimeout.Milliseconds()}, wait)
		}
		if r.counts && err == nil {
			all, err = c.pusher.Queue("INFO", []any{"replication"}, wait)
		}
		if !all || err != nil {
			c.unsent = c.unsent[i+1:]
			return false, err
		}
	}
	c.unsent = nil
	return c.pusher.Push(wait)
}

// recycle takes back a batch's backing array. It is called with mu held.
func (p *Pipeline) recycle(b []*Request) {
	if len(p.spares) <= maxInFlight && cap(b) <= 4096 {
		clear(b)
		p.spares = append(p.spares, b[:0])
	}
}
