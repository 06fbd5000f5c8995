package topology

import (
	"context"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// host is a node as one of its pipelines knows it.
type host struct {
	*Node
	aside bool // the pipeline is the one aside
}

// Usable asks the topology.
func (h host) Usable(s redisconn.Server) error {
	if h.o.Usable == nil {
		return s.Usable()
	}
	return h.o.Usable(s)
}

// Stays asks the topology.
func (h host) Stays(ctx context.Context, gone []string) error { return h.o.Stays(ctx, gone) }

// Elsewhere tells the topology.
func (h host) Elsewhere(key any) {
	if h.o.Elsewhere != nil {
		h.o.Elsewhere(key)
	}
}

// Connected notes where the node leads. The hub and the topology follow the pipeline
// that is not aside.
func (h host) Connected(server string, moved bool) {
	h.led.Store(&server)
	if !moved || h.aside {
		return
	}
	h.Hub.Redial()
	if h.o.Moved != nil {
		h.o.Moved()
	}
}

// Ended tells the topology.
func (h host) Ended() {
	if h.o.Ended != nil {
		h.o.Ended()
	}
}

// Trouble tells the topology.
func (h host) Trouble(err error) {
	if h.o.Trouble != nil {
		h.o.Trouble(err)
	}
}

// Untracked has tracking give up for a while.
func (h host) Untracked(err error) { h.tracking.fails(err) }
