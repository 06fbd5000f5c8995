package faultproxy

import (
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// deadline bounds each wait of the proxy for a server.
const deadline = 10 * time.Second

// Proxy listens on a loopback port and passes each connection on to one server. All methods are safe for concurrent
// use.
type Proxy struct {
	t     testing.TB
	addr  string
	pumps sync.WaitGroup
	ended chan struct{}
	port  *port                             // nil in a simulated network
	dial  func(server string) (half, error) // connects to the server

	mu        sync.Mutex // guards everything below, and the fields of conn and call that say so
	closed    bool
	server    string       // address dialled for each new connection
	listener  net.Listener // nil while connections are refused
	refuses   bool         // in a simulated network
	blackhole bool
	thaw      chan struct{} // not nil while frozen; closed at the thaw
	rules     []*Handle
	conns     []*conn
	exchanges []*Exchange
	counts    map[string]int
	observe   func(Exchange) // nil if no observer
}

// Start puts a proxy in front of the server at serverAddr. The server need not run yet: the proxy dials it for each
// connection. The proxy and all its connections end with the test.
func Start(t testing.TB, serverAddr string) *Proxy {
	t.Helper()
	return StartAt(t, "127.0.0.1:0", serverAddr)
}

// StartAt is Start at a chosen address, for example another loopback address with the port of an existing proxy.
func StartAt(t testing.TB, addr, serverAddr string) *Proxy {
	t.Helper()
	p := newProxy(t, serverAddr)
	p.dial = func(server string) (half, error) {
		c, err := net.DialTimeout("tcp", server, deadline)
		if err != nil {
			return nil, err
		}
		return c.(half), nil
	}
	var err error
	if p.port, err = reserve(addr); err != nil {
		t.Fatalf("faultproxy: %v", err)
	}
	p.addr = p.port.addr
	if err := p.listen(); err != nil {
		p.port.free()
		t.Fatalf("faultproxy: %v", err)
	}
	t.Cleanup(p.Close)
	return p
}

func newProxy(t testing.TB, server string) *Proxy {
	return &Proxy{t: t, server: server, ended: make(chan struct{}), counts: map[string]int{}}
}

// Addr is the host:port to connect to. Refuse does not change it, and no other program can take the port meanwhile.
func (p *Proxy) Addr() string { return p.addr }

// Close ends the proxy and every connection; withheld bytes are lost. It returns when the proxy's goroutines have
// ended. Further calls do nothing.
func (p *Proxy) Close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	close(p.ended)
	if p.listener != nil {
		p.listener.Close()
	}
	if p.port != nil {
		p.port.free()
	}
	conns := slices.Clone(p.conns)
	p.mu.Unlock()
	for _, c := range conns {
		c.closeBoth()
	}
	p.pumps.Wait()
}

// Add puts a rule in force for commands that arrive from now on. The test fails if r has no valid Do or lacks its
// Reply.
func (p *Proxy) Add(r Rule) *Handle {
	p.t.Helper()
	if r.Do < CutBefore || r.Do > Blackhole || (r.Do == Answer || r.Do == Replace) && len(r.Reply) == 0 {
		p.t.Fatalf("faultproxy: a rule that cannot work: %+v", r)
	}
	h := &Handle{proxy: p, rule: r, hit: make(chan struct{}), let: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, h)
	return h
}

// CutAll closes every connection's client side, and the server side of those that have nothing withheld.
func (p *Proxy) CutAll() {
	for _, c := range p.connections() {
		c.cutClient()
	}
}

// Refuse closes the listening port or opens it again. Existing connections stay open.
func (p *Proxy) Refuse(on bool) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
	case p.port == nil:
		p.refuses = on
	case on && p.listener != nil:
		stopListening(p.listener)
		p.listener = nil
	case !on && p.listener == nil:
		if err := p.listen(); err != nil {
			p.t.Errorf("faultproxy: listening again: %v", err)
		}
	}
}

// Move sends new connections to another server, as when the server behind an address is replaced. Existing connections
// keep their server.
func (p *Proxy) Move(serverAddr string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server = serverAddr
}

// Server is the address of the server that new connections reach.
func (p *Proxy) Server() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.server
}

// Blackhole makes the proxy accept new connections and never answer them, not even after it is turned off. Existing
// connections work on.
func (p *Proxy) Blackhole(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blackhole = on
}

// Freeze stops all traffic in both directions, as in a network outage: bytes wait and go on in order when it is turned
// off. New connections are accepted and wait too.
func (p *Proxy) Freeze(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case on && p.thaw == nil:
		p.thaw = make(chan struct{})
	case !on && p.thaw != nil:
		close(p.thaw)
		p.thaw = nil
	}
}

// listen opens the listening port. mu is held, except in StartAt, where no other goroutine has the proxy yet.
func (p *Proxy) listen() error {
	listener, err := net.Listen("tcp", p.addr)
	if err != nil {
		return err
	}
	p.listener = listener
	p.pumps.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.accept(client.(*net.TCPConn))
		}
	})
	return nil
}

// Serve takes over a connection accepted elsewhere, as if it had come to Addr. The proxy closes it in the end.
func (p *Proxy) Serve(client *net.TCPConn) { p.accept(client) }

// Observe makes the proxy call see with each exchange once its reply has come, before the client gets it. The proxy
// then records nothing for Record and Log, so it can run for hours. Calls come one at a time, in the order of replies
// on each connection. see must not block or call the proxy. Call Observe before the first connection comes.
func (p *Proxy) Observe(see func(Exchange)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.observe = see
}

func (p *Proxy) accept(client half) {
	c := newConn(p, client)
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		client.Close()
		return
	}
	c.number = len(p.conns)
	c.silent = p.blackhole
	p.conns = append(p.conns, c)
	blackhole := p.blackhole
	p.mu.Unlock()
	p.pumps.Go(func() {
		if blackhole {
			c.swallow()
			return
		}
		c.run()
	})
}

func (p *Proxy) connections() []*conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.conns)
}

// flowing blocks while the proxy is frozen.
func (p *Proxy) flowing() {
	for {
		p.mu.Lock()
		thaw := p.thaw
		p.mu.Unlock()
		if thaw == nil {
			return
		}
		select {
		case <-thaw:
		case <-p.ended:
			return
		}
	}
}

// arrive records a command and finds the rule that applies to it. mu is held.
func (p *Proxy) arrive(c *conn, cmd []string) *call {
	k := &call{exchange: &Exchange{Conn: c.number, Cmd: cmd, Sent: time.Now()}, done: make(chan struct{})}
	if p.observe == nil {
		p.exchanges = append(p.exchanges, k.exchange)
	}
	if len(cmd) > 0 {
		p.counts[strings.ToUpper(cmd[0])]++
	}
	if c.deaf {
		k.exchange.Did = Blackhole
	}
	if c.deaf || c.withheldBy != nil {
		return k
	}
	for _, h := range p.rules {
		if h.take(cmd) {
			k.fault = h
			k.exchange.Did = h.rule.Do
			break
		}
	}
	return k
}

// answered releases the bytes that were withheld until cmd was answered.
func (p *Proxy) answered(cmd []string) {
	p.mu.Lock()
	var due []*Handle
	for _, h := range p.rules {
		if h.rule.Do == Withhold && h.rule.Until != nil && h.rule.Until(cmd) {
			due = append(due, h)
		}
	}
	conns := slices.Clone(p.conns)
	p.mu.Unlock()
	for _, h := range due {
		for _, c := range conns {
			c.release(h)
		}
	}
}

// settled waits until the server has answered the first of the released calls or ended the connection.
func (p *Proxy) settled(c *conn, released []*call) bool {
	p.t.Helper()
	select {
	case <-released[0].done:
		return true
	case <-c.serverGone:
		select {
		case <-released[0].done:
			return true
		default:
			return false
		}
	case <-time.After(deadline):
		p.t.Errorf("faultproxy: the server neither answered %q nor closed its connection within %v",
			released[0].exchange.Cmd, deadline)
		return false
	}
}
