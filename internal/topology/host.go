package topology

import (
	"context"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// host is a node as one of its pipelines sees it.
type host struct {
	*Node
	aside bool // for the second pipeline, see Node.Aside
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

// Connected stores where the node leads. If its main pipeline moved to another server,
// the hub reconnects too, and the topology is notified.
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

// Untracked tells tracking that the server does not report changes.
func (h host) Untracked(err error) { h.tracking.fails(err) }
