package redisconn

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// Dialer makes the connection to an address in a caller's own way.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// errNoConn is what a caller's function gave.
var errNoConn = errors.New("the dialer gave neither a connection nor an error")

// Tunnelled is a caller's function as a Dialer that returns a moment after its ctx has
// ended, whatever f does. A late dial goes on by itself, and its connection is closed on
// arrival. Until then its address is not dialled again.
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

// slowToClose is a connection whose Close is the caller's code, and may wait for a network
// that stands still. Its own Close waits for that for a moment only, because the commands
// of a broken connection have to end.
type slowToClose struct {
	net.Conn
	begin func() (closed <-chan struct{}) // closes Conn, once
}

func newSlowToClose(c net.Conn) slowToClose {
	return slowToClose{c, sync.OnceValue(func() <-chan struct{} {
		closed := make(chan struct{})
		go func() {
			_ = c.Close() // it is of no use, whatever that says
			close(closed)
		}()
		return closed
	})}
}

// Close closes the connection.
func (c slowToClose) Close() error {
	select {
	case <-c.begin():
	case <-time.After(grace):
	}
	return nil
}

// native tells a connection of the system's own. One that merely has it inside
// may read what comes in another way.
func native(c net.Conn) bool {
	switch c.(type) {
	case *net.TCPConn, *net.UnixConn:
		return true
	}
	return false
}
