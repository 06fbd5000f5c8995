package redisconn

import (
	"io"
	"net"
)

// A stream reads and writes the network.
type stream interface {
	io.ReadWriter
	TryRead(p []byte) (n int, err error)  // reads what is there, without waiting
	TryWrite(p []byte) (n int, err error) // writes what there is room for, without waiting
}

// waits is a stream that can't read or write without the risk of waiting.
type waits struct{ net.Conn }

// TryRead reads nothing.
func (w waits) TryRead(p []byte) (n int, err error) { return 0, nil }

// TryWrite writes nothing.
func (w waits) TryWrite(p []byte) (n int, err error) { return 0, nil }

// Simulated is a connection of a simulation, which reads and writes without waiting as a
// socket does. Only this module can make one: no other can name Simulation.
type Simulated interface {
	net.Conn
	stream
	Simulated(Simulation)
}

// Simulation marks a Simulated.
type Simulation struct{}
