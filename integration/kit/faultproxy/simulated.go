package faultproxy

import (
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simnet"
)

// Simulate puts a proxy in front of a server of a simulated network. Call it in the network's bubble.
func Simulate(t testing.TB, w *simnet.World, serverAddr string) *Proxy {
	p := newProxy(t, serverAddr)
	p.addr = fmt.Sprintf("10.2.0.%d:6379", proxies.Add(1)%250+1)
	dial := w.Dialer("10.3.0.1")
	p.dial = func(server string) (half, error) {
		c, err := dial(t.Context(), "tcp", server)
		switch c := c.(type) {
		case simnet.Native:
			return c.Conn, nil
		case *simnet.Conn:
			return c, nil
		}
		return nil, err
	}
	w.Mu.Lock()
	w.Listen(p.addr, simulated{p, w})
	w.Mu.Unlock()
	t.Cleanup(p.Close)
	return p
}

var proxies atomic.Int32

// simulated is a proxy as a server of a simulated network.
type simulated struct {
	*Proxy
	w *simnet.World
}

// Up tells whether the proxy takes connections.
func (s simulated) Up() (up, silent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.refuses && !s.closed, false
}

// Accept takes a connection.
func (s simulated) Accept(p *simnet.Peer) {
	c := &clientHalf{w: s.w, peer: p, wake: make(chan struct{}, 1)}
	p.Data = c
	go s.accept(c) // it takes the proxy's lock, under which the world's may be wanted
}

// Input takes what a client wrote.
func (s simulated) Input(p *simnet.Peer, b []byte) {
	c := p.Data.(*clientHalf)
	c.in = append(c.in, b...)
	c.signal()
}

// Closed takes the end of a client's connection.
func (s simulated) Closed(p *simnet.Peer) {
	c := p.Data.(*clientHalf)
	c.over = true
	c.signal()
}

// clientHalf is the proxy's end of a client's connection. The world's lock guards its fields.
type clientHalf struct {
	w    *simnet.World
	peer *simnet.Peer
	in   []byte
	over bool // nothing more comes
	wake chan struct{}
}

func (c *clientHalf) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *clientHalf) Read(b []byte) (int, error) {
	for {
		c.w.Mu.Lock()
		n, over := copy(b, c.in), c.over
		c.in = c.in[n:]
		c.w.Mu.Unlock()
		if n > 0 {
			return n, nil
		}
		if over {
			return 0, io.EOF
		}
		<-c.wake
	}
}

func (c *clientHalf) Write(b []byte) (int, error) {
	c.w.Mu.Lock()
	defer c.w.Mu.Unlock()
	if c.over {
		return 0, net.ErrClosed
	}
	c.peer.Send(append([]byte(nil), b...))
	return len(b), nil
}

func (c *clientHalf) Close() error {
	c.w.Mu.Lock()
	defer c.w.Mu.Unlock()
	c.peer.Close()
	c.over = true
	c.signal()
	return nil
}

func (c *clientHalf) CloseWrite() error                { return c.Close() }
func (c *clientHalf) LocalAddr() net.Addr              { return nil }
func (c *clientHalf) RemoteAddr() net.Addr             { return nil }
func (c *clientHalf) SetDeadline(time.Time) error      { return os.ErrNoDeadline }
func (c *clientHalf) SetReadDeadline(time.Time) error  { return os.ErrNoDeadline }
func (c *clientHalf) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }
