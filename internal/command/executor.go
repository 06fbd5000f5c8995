package command

import (
	"sync"
	"time"

	"github.com/rlock-go/redisson/internal/topology"
)

// Options are an Executor's settings.
type Options struct {
	Timeout time.Duration        // how long one command may take, its redirections included
	Now     func() time.Duration // the client's clock
	Closing func() bool          // whether the client is being closed: nothing is sent again

	// Ended is called after each send that reached a server, or may have, before the
	// request's handler. It must not block. It may be nil.
	Ended func(*Request)

	// After calls fn after d, or earlier when the client is closed.
	After func(d time.Duration, fn func())

	// Go calls fn on another goroutine. The client's end waits for it.
	Go func(fn func())
}

// Executor sends a client's commands, each to the node that serves its slot. It
// is safe for concurrent use.
type Executor struct {
	top topology.Topology
	o   Options

	// mu guards where a request is: its node, its pipe, parked and takenBack. The first
	// Enqueue sets them without mu, because no other goroutine knows the request yet.
	mu sync.Mutex
}

// New makes an executor that sends through the nodes of top.
func New(top topology.Topology, o Options) *Executor { return &Executor{top: top, o: o} }

// Discard deletes a key that the client itself made, in slot, a little later. It does
// nothing if no node serves the slot. See pipeline.Pipeline.Discard.
func (x *Executor) Discard(slot uint16, key any) {
	if n, err := x.top.Node(slot); err == nil {
		n.Pipe.Discard(key)
	}
}

// Uses tells whether a connection, by its number, still leads to the server of slot. Then that
// server has all that it answered there. No connection has the number 0.
func (x *Executor) Uses(slot uint16, connection uint64) bool {
	if connection == 0 {
		return false
	}
	n, err := x.top.Node(slot)
	return err == nil && n.Uses(connection)
}

// Trouble tells why nothing can be sent for slot, as the error of an unsent command.
// It is nil if there is a connection, or if none was needed so far.
func (x *Executor) Trouble(slot uint16) error {
	n, err := x.top.Node(slot)
	if err == nil {
		err = n.Pipe.Err()
	}
	if err == nil {
		return nil
	}
	return Unsent(err)
}
