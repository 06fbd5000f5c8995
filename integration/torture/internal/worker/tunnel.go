package worker

import (
	"context"
	"math/rand/v2"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// tunnel is a connection whose Write waits now and then, as one does that leads through another program. It is neither
// a TCP nor a Unix connection to whoever looks.
type tunnel struct {
	net.Conn
	closed   atomic.Bool
	deadline atomic.Int64 // of writes, in UnixNano; 0: none
}

func dialTunnel(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &tunnel{Conn: c}, nil
}

const (
	// rarely: one in so many writes waits.
	rarely = 40
	// longest is how long it waits at most: three in a row are less than a waiter may take in calm.
	longest = 300 * time.Millisecond
	// patient is the command timeout of who has such connections: a shorter one would end each wait before it harms.
	patient = time.Second
)

func (t *tunnel) Write(b []byte) (int, error) {
	if rand.IntN(rarely) > 0 {
		return t.Conn.Write(b)
	}
	for end := time.Now().Add(rand.N(longest)); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if t.closed.Load() {
			return 0, net.ErrClosed
		}
		if at := t.deadline.Load(); at != 0 && time.Now().UnixNano() > at {
			return 0, os.ErrDeadlineExceeded
		}
	}
	return t.Conn.Write(b)
}

func (t *tunnel) Close() error {
	t.closed.Store(true)
	return t.Conn.Close()
}

func (t *tunnel) SetWriteDeadline(at time.Time) error {
	t.note(at)
	return t.Conn.SetWriteDeadline(at)
}

func (t *tunnel) SetDeadline(at time.Time) error {
	t.note(at)
	return t.Conn.SetDeadline(at)
}

func (t *tunnel) note(at time.Time) {
	if at.IsZero() {
		t.deadline.Store(0)
		return
	}
	t.deadline.Store(at.UnixNano())
}
