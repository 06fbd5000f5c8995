package pipeline

import "time"

const (
	// maxDirect is how many commands or keys are too few to fill the buffer of an
	// idle connection. A renewal of 25 locks is about 2.5 kilobytes.
	maxDirect = 4

	// batchSplit is into how many batches the open requests are split, so that
	// some are at the server while others are here. Measured with 16 to 1,024
	// callers, two to four make 3 to 8 percent.
	batchSplit = 3

	// leastBatch is the size below which batches are not split.
	leastBatch = 4
)

// Enqueue queues r without I/O, so that a caller may hold locks. Flush or
// WakeWriter must be called afterwards. It reports false when the pipeline is
// closed: then r.Err says so and r is never completed.
func (p *Pipeline) Enqueue(r *Request) bool {
	deadline := p.o.Clock.Now() + p.o.Timeout
	p.mu.Lock()
	if p.gone || p.closed {
		r.Reply, r.Err = nil, &NotSentError{p.over()}
		p.mu.Unlock()
		return false
	}
	r.deadline = deadline
	r.queued = true
	r.loads, r.Resent, r.asking = 0, false, false
	r.Reply, r.Err = nil, nil
	p.queue = append(p.queue, r)
	p.mu.Unlock()
	return true
}

// Resend queues r, which was answered that it did not run, here or on another
// pipeline, or that found none. It is written by deadline, or not at all. asking sends ASKING directly before it: then
// its script is loaded before, unless that was done once, since whatever stands
// between the two takes the server's permission away. Like Enqueue, it does no
// I/O and reports false on a closed pipeline.
func (p *Pipeline) Resend(r *Request, deadline time.Duration, asking bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.over(); err != nil {
		r.Reply, r.Err = nil, &NotSentError{err}
		return false
	}
	if asking && r.Script != nil && p.loads[r.Script] == nil {
		p.queueLoad(r)
	}
	r.queued, r.Resent, r.asking, r.loads = true, true, asking, 0
	r.deadline = deadline
	r.Reply, r.Err = nil, nil
	p.queue = append(p.queue, r)
	return true
}

// Cancel takes back a request that was not written yet. It reports whether it
// did. r is then never completed.
func (p *Pipeline) Cancel(r *Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !r.queued {
		return false
	}
	for i, q := range p.queue {
		if q == r {
			p.queue = append(p.queue[:i], p.queue[i+1:]...)
			r.queued = false
			r.Err = &NotSentError{errCancelled}
			return true
		}
	}
	return false
}

// Waiting tells whether r waits to be written: nothing of it runs before that,
// and nothing of it has run if the server refused it before.
func (p *Pipeline) Waiting(r *Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return r.queued
}

// Flush writes what is queued, as far as the batches in flight allow; what is
// left goes when a batch returns. It may write to the connection, and read from it
// for some milliseconds, see lone.go: requests may be completed by the goroutine that
// calls it.
func (p *Pipeline) Flush() {
	if c := p.writeQueued(true); c != nil {
		c.readOwn()
	}
}

// writeQueued is Flush without reading. For a caller, which may read, it gives the
// connection whose next reply the caller has to read; nil if there is none.
func (p *Pipeline) writeQueued(caller bool) (own *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.ready() {
		c, b, owns := p.cutBatch(caller)
		if owns {
			own = c
		}
		p.mu.Unlock()
		c.write(b)
		p.mu.Lock()
		c.writing = false
	}
	return own
}

// WakeWriter is Flush for callers that must not block. A few commands are
// written at once if no reply is expected, since the kernel has room for them.
// Anything else is written on another goroutine.
func (p *Pipeline) WakeWriter() {
	p.mu.Lock()
	for p.ready() && p.conn.inflight == 0 && len(p.queue) <= maxDirect && len(p.discards) <= maxDirect {
		c, b, _ := p.cutBatch(false)
		p.mu.Unlock()
		c.write(b)
		p.mu.Lock()
		c.writing = false
	}
	// A caller that came during this write left its commands to the writer.
	if !p.ready() {
		p.mu.Unlock()
		return
	}
	if !p.writerRuns && !p.closed {
		p.writerRuns = true
		p.wg.Go(p.runWriter)
	}
	p.mu.Unlock()
	select {
	case p.writerWake <- struct{}{}:
	default:
	}
}

func (p *Pipeline) runWriter() {
	for {
		select {
		case <-p.writerWake:
			p.writeQueued(false)
		case <-p.ctx.Done():
			return
		}
	}
}

// ready tells whether there is something to write and a connection to write it
// to. If there is no connection it starts to make one. It is called with mu
// held.
func (p *Pipeline) ready() bool {
	if len(p.queue) == 0 && !(p.discardNow && len(p.discards) > 0) && (p.conn == nil || len(p.conn.repeats) == 0) {
		return false
	}
	if p.conn == nil {
		p.connect()
		return false
	}
	return !p.conn.writing && !p.conn.busy.Load() && p.conn.inflight < maxInFlight && !p.conn.syncing
}

// cutBatch takes the queue, or a part of it that makes a good batch. It tells whether
// the goroutine that has called, a caller's, has to read the reply. It is called with
// mu held.
func (p *Pipeline) cutBatch(caller bool) (*conn, []*Request, bool) {
	c := p.conn
	b := p.queue
	p.queue = nil
	if last := len(p.spares) - 1; last >= 0 {
		p.queue, p.spares = p.spares[last], p.spares[:last]
	}
	// Callers whose commands go together come back together, and until then the
	// server has nothing to do. Split, some are at the server while others are
	// here.
	// With replicas to wait for they would wait for two batches more.
	if most := max((len(b)+c.openRequests)/batchSplit, leastBatch); len(b) > most && c.replicas == 0 {
		p.queue = append(p.queue, b[most:]...)
		clear(b[most:])
		b = b[:most]
	}
	if len(c.repeats) > 0 {
		b = append(b, c.waitAgain())
	}
	if len(p.discards) > 0 || p.discardNow {
		b = p.cutDiscards(b)
	}
	p.batches++
	now := p.o.Clock.Now()
	waits := 0
	var sync *Request
	for _, r := range b {
		r.Sent, r.conn, r.batch, r.queued = now, c, p.batches, false
		r.Replicas, r.Acked, r.sync, r.kept = 0, 0, false, false
		if r.Wait {
			c.countSometimes(now)
		}
		if r.Wait && c.replicas > 0 {
			r.Replicas = c.replicas
			sync = r
		}
		if r.waits {
			c.syncing = true
			waits++
		}
	}
	if sync != nil {
		sync.sync, c.syncing = true, true
		waits++
	}
	alone := c.inflight == 0 && len(b) == 1 && len(p.queue) == 0
	if w := uint32(c.lone.cut(now, alone)); w != c.loneWay.Load() {
		c.loneWay.Store(w)
	}
	c.openRequests += len(b)
	c.batchBounds[c.batchCount%maxInFlight] = batchBound{now, waits}
	c.batchCount++
	if c.inflight++; c.inflight == 1 {
		c.busier(1)
		if c.exact || c.boundedBy == 0 {
			c.boundRead()
		}
	}
	c.writing = true
	c.batches <- b // never blocks: room for every batch that may be in flight
	return c, b, c.ownsReply(b, caller, alone)
}

// busier is called with p.mu held when c has its first batch under way, or not
// even one any more.
func (c *conn) busier(by int64) {
	if all := c.p.o.UnderWay; all != nil {
		all.connections.Add(by)
	}
}

// write sends a batch. An error needs no handling here: the stream is closed
// then, and the reader sees it.
func (c *conn) write(b []*Request) {
	defer func() { c.wrote <- struct{}{} }() // never blocks, as batches
	c.wmu.Lock()
	defer c.wmu.Unlock()
	if c.broken || c.stuck {
		return
	}
	c.begun++
	var err error
	for _, r := range b {
		if r.asking && err == nil {
			err = c.pusher.Queue("ASKING", nil)
		}
		if err == nil {
			err = c.pusher.Queue(r.Command, r.Args)
		}
		if r.sync && err == nil {
			err = c.pusher.Queue("WAIT", []any{r.Replicas, waitTimeout.Milliseconds()})
		}
	}
	if err == nil {
		err = c.pusher.Push()
	}
	if c.stuck = err != nil; c.stuck && c.managed != nil {
		c.Interrupt()
	}
}

// recycle takes back a batch's backing array. It is called with mu held.
func (p *Pipeline) recycle(b []*Request) {
	if len(p.spares) <= maxInFlight && cap(b) <= 4096 {
		clear(b)
		p.spares = append(p.spares, b[:0])
	}
}
