package simnet

import "time"

// pipe is one direction. What was written waits in it, in order.
type pipe struct {
	last  time.Time
	queue []chunk
	bytes int // in queue
	cut   int // if above 0, the connection breaks after so many more bytes
	lost  bool
}

type chunk struct {
	b     []byte
	then  func() // instead of bytes
	ready bool   // its latency is over
}

// put sends a chunk.
func (p *pipe) put(c *Conn, ch chunk) {
	if p.lost {
		return
	}
	w, now := c.w, time.Now()
	d := w.latency(c.link)
	if at := now.Add(d); !at.After(p.last) {
		d = p.last.Sub(now) + time.Microsecond
	}
	p.last = now.Add(d)
	p.queue = append(p.queue, ch)
	p.bytes += len(ch.b)
	w.After(d, func() {
		roomy(len(p.queue))
		for i := range p.queue {
			if !p.queue[i].ready {
				p.queue[i].ready = true
				break
			}
		}
		p.flush(c)
	})
}

// roomy grows the stack of an event's goroutine at once. Else it grows in steps below a
// script's calls, each of which it would copy: a seventh of a play's time.
//
//go:noinline
func roomy(i int) byte {
	var a [9 << 10]byte
	return a[i&1023]
}

// flush delivers what has come.
func (p *pipe) flush(c *Conn) {
	up := p == &c.up
	for len(p.queue) > 0 && p.queue[0].ready && !c.link.Blocked && !c.vanished && !(up && c.server.held) {
		ch := p.queue[0]
		p.queue = p.queue[1:]
		p.bytes -= len(ch.b)
		select {
		case c.roomy <- struct{}{}:
		default:
		}
		if ch.then != nil {
			ch.then()
			continue
		}
		b, breaks := ch.b, false
		if p.cut > 0 {
			if len(b) >= p.cut {
				b, breaks = b[:p.cut-1], true
			}
			p.cut -= len(b)
		}
		p.deliver(c, b)
		if breaks {
			p.cut = 0
			c.Break()
		}
	}
}

// drop loses what has not come yet.
func (p *pipe) drop() {
	p.lost = true
	came := p.queue[:0]
	for _, ch := range p.queue {
		if ch.ready && ch.then == nil {
			came = append(came, ch)
		}
	}
	p.queue = came
}

func (p *pipe) deliver(c *Conn, b []byte) {
	switch {
	case len(b) == 0:
	case p == &c.up:
		if !c.server.closed {
			c.server.h.Input(c.server, b)
		}
	case !c.closed && c.end == nil:
		c.in = append(c.in, b...)
		if c.w.Paused(c.host) {
			return
		}
		c.signal()
		for _, f := range c.w.AtDelivery[c.host] {
			go f()
		}
		delete(c.w.AtDelivery, c.host)
	}
}
