package simnet

import "time"

// Link is the state of the way from one host to another, both directions.
type Link struct {
	Blocked bool          // nothing passes, and waits
	Refused bool          // new connections are refused
	Slow    time.Duration // added to each latency
	Dialing time.Duration // added to the time that a new connection takes
}

// Between returns the link of a client's host and a server's address.
func (w *World) Between(host, addr string) *Link {
	k := [2]string{host, addr}
	l := w.links[k]
	if l == nil {
		l = &Link{}
		w.links[k] = l
	}
	return l
}

// Block changes a link. What waited passes when it is open again.
func (w *World) Block(host, addr string, blocked bool) {
	w.Between(host, addr).Blocked = blocked
	if blocked {
		return
	}
	for _, c := range w.conns(func(c *Conn) bool { return c.host == host && c.server.Addr == addr }) {
		c.up.flush(c)
		c.down.flush(c)
	}
}

// Pause stops a client's host, or lets it go on. Its clock goes on meanwhile. What is sent
// to it arrives in its kernel and is read when it resumes; it reads, writes, closes and dials nothing
// until then. A bubble can't stop goroutines and timers, so the host's own timers still
// fire in time, and what they decide without the network is decided in time: only a process
// that is really stopped shows a program that wakes up late.
func (w *World) Pause(host string, paused bool) {
	resumed := w.paused[host]
	switch {
	case paused && resumed == nil:
		w.paused[host] = make(chan struct{})
	case !paused && resumed != nil:
		delete(w.paused, host)
		close(resumed)
		for _, c := range w.Conns(func(c *Conn) bool { return c.host == host }) {
			if c.closed {
				c.finish()
			}
			c.signal()
		}
	}
}

// Paused tells whether a client's host is.
func (w *World) Paused(host string) bool { return len(w.paused) > 0 && w.paused[host] != nil }

func (w *World) latency(l *Link) time.Duration {
	d := 50*time.Microsecond + time.Duration(w.Rand.Int64N(int64(400*time.Microsecond)))
	if w.Rand.IntN(200) == 0 {
		d += time.Duration(w.Rand.Int64N(int64(20 * time.Millisecond)))
	}
	return d + l.Slow
}
