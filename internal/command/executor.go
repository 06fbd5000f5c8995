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
	Closing func() bool          // the client is being closed: nothing is sent again

	// Ended is told each send that reached a server, or may have, before its handler
	// is. It must not block; nil: nobody wants to know.
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

	// mu guards where a request is, once that changes: its node, its pipe, parked and
	// takenBack. The first time nobody else knows the request.
	mu sync.Mutex
}

// New makes an executor of what sends.
func New(top topology.Topology, o Options) *Executor { return &Executor{top: top, o: o} }

// Discard deletes a key of the client's own, of slot, some time soon.
func (x *Executor) Discard(slot uint16, key any) {
	if n, err := x.top.Node(slot); err == nil {
		n.Pipe.Discard(key)
	}
}

// Trouble tells why nothing can be sent for slot, as the error of a command that
// was not; nil if there is a connection, or if none was asked for.
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
