package redisconn

import (
	"io"
	"net"
)

// A stream reads and writes the network.
type stream interface {
	io.ReadWriter
	TryRead(p []byte) (n int, err error)  // what is there, without waiting
	TryWrite(p []byte) (n int, err error) // what there is room for, likewise
}

// waits is a stream of which nobody knows what needs no waiting: nothing is tried.
type waits struct{ net.Conn }

// TryRead reads nothing.
func (w waits) TryRead(p []byte) (n int, err error) { return 0, nil }

// TryWrite writes nothing.
func (w waits) TryWrite(p []byte) (n int, err error) { return 0, nil }
