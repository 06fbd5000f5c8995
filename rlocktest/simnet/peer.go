package simnet

// Peer is the server's end.
type Peer struct {
	c      *Conn  // nil: the client is in this process, see Local
	Addr   string // the server's
	Client string // the client's host
	Remote string // the client's address
	Data   any    // the server's
	h      Handler
	closed bool
	held   bool // the server reads nothing

	receive func(b []byte) // of Local
}

// Local makes the server's end of a connection without a network: what the server sends is
// given to receive at once, and the caller gives the handler its input.
func Local(addr, client string, h Handler, receive func(b []byte)) *Peer {
	p := &Peer{Addr: addr, Client: client, Remote: client + ":1", h: h, receive: receive}
	h.Accept(p)
	return p
}

// Send sends to the client.
func (p *Peer) Send(b []byte) {
	switch {
	case p.closed:
	case p.c == nil:
		p.receive(b)
	default:
		p.c.down.put(p.c, chunk{b: b})
	}
}

// Hold stops the reading of what the client sends, which then waits in the network, or
// lets it go on.
func (p *Peer) Hold(held bool) {
	p.held = held
	if !held && p.c != nil {
		p.c.up.flush(p.c)
	}
}

// Unread tells whether something has come that was not read.
func (p *Peer) Unread() bool { return p.c != nil && len(p.c.up.queue) > 0 && p.c.up.queue[0].ready }

// Close ends the connection as a server that closes: what was sent arrives before. The
// client learns of it by a FIN; one that writes again gets a reset.
func (p *Peer) Close() {
	if p.closed {
		return
	}
	p.closed = true
	c := p.c
	if c == nil {
		return
	}
	c.gone = true
	c.up.lost, c.up.queue = true, nil
	c.down.put(c, chunk{then: func() {
		if c.end == nil {
			c.end = errEOF
			c.signal()
		}
	}})
}

// IsClosed tells whether the end is closed.
func (p *Peer) IsClosed() bool { return p.closed }
