package redisconn

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// Dialer connects to an address, as a function of the caller's does.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// errNoConn is the error if a caller's function returned two nils.
var errNoConn = errors.New("the dialer gave neither a connection nor an error")

// Tunnelled makes a Dialer of a caller's function f. It returns at most 50 ms after its ctx
// has ended, whatever f does. A late dial is abandoned: its connection is closed on arrival,
// and the address is not dialled again until then.
func Tunnelled(f Dialer) Dialer {
	var p punctual[net.Conn]
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := p.dial(ctx, address, func(ctx context.Context) (c net.Conn, err error) {
			err = apart("the dialer", func() (err error) {
				c, err = f(ctx, network, address)
				return err
			})
			if c == nil && err == nil {
				err = errNoConn
			}
			return c, err
		})
		if err != nil || native(c) {
			return c, err
		}
		return newSlowToClose(c), nil
	}
}

// slowToClose is a connection whose Close is the caller's code, and may wait for a stalled
// network. slowToClose.Close waits at most 50 ms for that code, because the commands of a
// broken connection have to end.
type slowToClose struct {
	net.Conn
	begin func() (closed <-chan struct{}) // closes Conn, once
}

func newSlowToClose(c net.Conn) slowToClose {
	return slowToClose{c, sync.OnceValue(func() <-chan struct{} {
		closed := make(chan struct{})
		go func() {
			_ = c.Close() // the connection is not used again, whatever the error
			close(closed)
		}()
		return closed
	})}
}

// Close closes the connection, after 50 ms in the background. It returns nil.
func (c slowToClose) Close() error {
	select {
	case <-c.begin():
	case <-time.After(grace):
	}
	return nil
}

// native tells whether c is a TCP or Unix connection of package net. A type that wraps one
// may read and write other bytes.
func native(c net.Conn) bool {
	switch c.(type) {
	case *net.TCPConn, *net.UnixConn, Simulated:
		return true
	}
	return false
}
