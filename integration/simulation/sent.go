package simulation

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
)

// dialer is that of one host. It notes when the host last wrote to a server.
func (p *play) dialer(host string) rlock.Option {
	dial := p.w.Dialer(host)
	return rlock.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		wrote := func() {
			p.w.Mu.Lock()
			defer p.w.Mu.Unlock()
			if slices.ContainsFunc(p.site.servers(), func(s server) bool { return s.Addr == address }) {
				p.wrote[host] = time.Now()
			}
		}
		switch c := conn.(type) {
		case simnet.Native:
			return notedNative{c, wrote}, nil
		case *simnet.Conn:
			return notedConn{c, wrote}, nil
		}
		return conn, nil
	})
}

// notedConn is a connection whose writes are noted.
type notedConn struct {
	*simnet.Conn
	wrote func()
}

func (c notedConn) Write(b []byte) (int, error) {
	c.wrote()
	return c.Conn.Write(b)
}

// notedNative is a connection like a socket whose writes are noted.
type notedNative struct {
	simnet.Native
	wrote func()
}

// Write is for a system whose sockets have no WriteSome.
func (c notedNative) Write(b []byte) (int, error) {
	c.wrote()
	return c.Native.Write(b)
}

func (c notedNative) WriteSome(b []byte, wait bool) (int, error) {
	c.wrote()
	return c.Native.WriteSome(b, wait)
}
