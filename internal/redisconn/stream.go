package redisconn

import "net"

// A stream reads and writes the network. Without wait it reads only what is there, and writes
// only what there is room for.
type stream interface {
	ReadSome(p []byte, wait bool) (n int, err error)  // waits for one byte at least
	WriteSome(p []byte, wait bool) (n int, err error) // waits until all of p is written
}

// waits is a stream that can't read or write without the risk of waiting.
type waits struct{ net.Conn }

// ReadSome reads nothing without wait.
func (w waits) ReadSome(p []byte, wait bool) (n int, err error) {
	if !wait {
		return 0, nil
	}
	return w.Read(p)
}

// WriteSome writes nothing without wait.
func (w waits) WriteSome(p []byte, wait bool) (n int, err error) {
	if !wait {
		return 0, nil
	}
	return w.Write(p)
}

// Simulated is a connection of a simulation, which reads and writes without waiting as a
// socket does. Only this module can make one: no other can name Simulation.
type Simulated interface {
	net.Conn
	stream
	Simulated(Simulation)
}

// Simulation marks a Simulated.
type Simulation struct{}
