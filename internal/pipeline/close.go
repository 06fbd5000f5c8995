package pipeline

import (
	"cmp"
	"time"
)

// Close waits for at most patience until every accepted request has ended. New
// requests are accepted until then and refused from then on. Those still open
// end with a NotSentError or a LostError. Close returns when every goroutine
// and the connection are gone. It is idempotent.
func (p *Pipeline) Close(patience time.Duration) {
	p.mu.Lock()
	p.closing = true
	p.mu.Unlock()
	p.drain(patience)
	p.mu.Lock()
	p.over = cmp.Or(p.over, ErrClosed)
	p.discard.Stop()
	if p.conn != nil {
		p.conn.end()
	}
	c := p.ending
	p.stop()
	p.mu.Unlock()
	if c != nil {
		c.Interrupt() // its reader may wait
	}
	p.wg.Wait()
	p.o.Log.Close()
	p.mu.Lock() // no goroutine is left to end the remaining requests
	unwritten := p.queue.cut(nil, p.queue.length)
	p.discards = nil
	for _, b := range p.barriers {
		b.decided = true
	}
	p.mu.Unlock()
	unsent(unwritten, ErrClosed)
	p.runBarriers()
}

// Abandon is Close for a node that has left: requests that were not written yet,
// and all later ones, end with ErrGone. Written ones have at most patience to be
// answered, and less if the server is silent or can't be reached: it may hang, or be gone.
func (p *Pipeline) Abandon(patience time.Duration) {
	p.mu.Lock()
	p.over = ErrGone
	unwritten := p.queue.cut(nil, p.queue.length)
	p.mu.Unlock()
	unsent(unwritten, ErrGone)
	p.Close(patience)
}

// drain waits until nothing is queued, in flight or awaiting its kill barrier,
// for at most d. It does not wait for a server that the node has left and that is silent or
// can't be reached. Discards are sent at once.
func (p *Pipeline) drain(d time.Duration) {
	began := time.Now()
	deadline := began.Add(d)
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 10*time.Millisecond) {
		p.mu.Lock()
		p.discardNow = true
		left := p.queue.length + len(p.discards) + p.awaited()
		lost := p.lastErr != nil || time.Since(began) >= silentAfter // a dial may hang
		if c := cmp.Or(p.conn, p.ending); c != nil {
			left += c.inflight
			lost = c.silent()
		}
		if p.over == ErrGone && lost {
			left = 0
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
