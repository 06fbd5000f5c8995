package simnet

import "time"

// Break ends the connection at both ends, by a reset or by a FIN. What is on its way is
// lost; what has come and was not read is read first.
func (c *Conn) Break() {
	if c.w.Rand.IntN(2) == 0 {
		c.Reset()
	} else {
		c.Finish()
	}
}

// Reset breaks the connection by a RST to both ends.
func (c *Conn) Reset() {
	if c.end == nil {
		c.end = errReset
	}
	c.wend = errPipe
	c.broken()
}

// Finish breaks the connection by a FIN to both ends. The client's next write is taken,
// and gets a reset.
func (c *Conn) Finish() {
	if c.end == nil {
		c.end = errEOF
	}
	c.broken()
}

func (c *Conn) broken() {
	c.vanished = false
	c.up.drop()
	c.down.lost, c.down.queue = true, nil
	c.signal()
	if c.server.held { // what has come is still read
		c.up.queue = append(c.up.queue, chunk{then: c.left, ready: true})
		return
	}
	c.left()
}

// BreakAfter breaks the connection when so many more bytes have passed in a direction; below 0: not any more.
func (c *Conn) BreakAfter(up bool, n int) {
	if p := &c.down; up {
		c.up.cut = max(n+1, 0)
	} else {
		p.cut = max(n+1, 0)
	}
}

// keepAlive is how long a kernel asks a peer that does not answer, once its connection was
// silent for probeEvery.
const (
	probeEvery = 15 * time.Second
	keepAlive  = 10 * probeEvery
)

// Vanish makes the server's host disappear without a word: nothing passes from now on. The
// client's kernel gives up by itself.
func (c *Conn) Vanish() {
	if c.vanished || c.gone {
		return
	}
	c.vanished = true
	c.w.After(keepAlive, func() {
		if c.vanished {
			c.end = errTimeout
			c.Reset()
		}
	})
}

// Reappear brings back the server's host, which knows nothing of the connection: it answers
// the next bytes or the next probe with a reset.
func (c *Conn) Reappear() {
	if c.vanished {
		d := time.Duration(c.w.Rand.Int64N(int64(probeEvery)))
		if len(c.up.queue) > 0 {
			d /= 5 // they are sent again and again
		}
		c.w.After(d, c.Reset)
	}
}
