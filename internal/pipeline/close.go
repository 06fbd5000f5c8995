package pipeline

import (
	"cmp"
	"time"
)

// Close refuses new requests, waits until what was accepted has ended, for at
// most patience, and returns when every goroutine and the connection are
// gone. Requests that are still open then end with a NotSentError or a
// LostError. It is idempotent.
func (p *Pipeline) Close(patience time.Duration) {
	p.mu.Lock()
	p.closing = true
	p.mu.Unlock()
	p.drain(patience)
	p.mu.Lock()
	p.over = cmp.Or(p.over, ErrClosed)
	p.discard.Stop()
	c := p.conn
	if c != nil {
		c.end()
	}
	p.stop()
	p.mu.Unlock()
	if c != nil {
		c.Interrupt() // its reader may wait
	}
	p.wg.Wait()
	p.o.Log.Close()
	p.mu.Lock() // no goroutine is left to end what is left
	unwritten := p.queue.cut(nil, p.queue.length)
	p.discards = nil
	for _, b := range p.barriers {
		b.decided = true
	}
	p.mu.Unlock()
	unsent(unwritten, ErrClosed)
	p.runBarriers()
}

// Leave is Close for a node that has left: what was not written yet ends with
// ErrGone, and so does all that comes later. What is under way has patience to
// be answered.
func (p *Pipeline) Leave(patience time.Duration) {
	p.mu.Lock()
	p.over = ErrGone
	unwritten := p.queue.cut(nil, p.queue.length)
	p.mu.Unlock()
	unsent(unwritten, ErrGone)
	p.Close(patience)
}

// drain waits until nothing is queued, in flight or awaiting its kill barrier,
// for at most d. Discards are sent at once.
func (p *Pipeline) drain(d time.Duration) {
	deadline := time.Now().Add(d)
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 10*time.Millisecond) {
		p.mu.Lock()
		p.discardNow = true
		left := p.queue.length + len(p.discards) + p.awaited()
		if p.conn != nil {
			left += p.conn.inflight
		}
		over := left == 0 || p.ctx.Err() != nil || !time.Now().Before(deadline)
		p.mu.Unlock()
		if over {
			return
		}
		p.WakeWriter()
		time.Sleep(pause)
	}
}
