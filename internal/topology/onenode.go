package topology

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// oneNode is the common part of topologies with one node for all slots, whichever
// server is behind it.
type oneNode struct {
	*Feed
	node    *Node
	nodes   []*Node
	listens []Subscription

	// moving is set while all connections are being ended, and reported together afterwards: what
	// a report makes the client send must not reach the former master, which may still answer.
	moving atomic.Bool

	life  context.Context // ended by Close
	end   context.CancelFunc
	tasks sync.WaitGroup // goroutines that look and ask
}

// begin makes the node. o has what differs between topologies.
func (t *oneNode) begin(s Settings, o NodeOptions) {
	t.Feed = NewFeed()
	t.life, t.end = context.WithCancel(context.Background())
	o.Node.Ended = t.changed
	t.node = NewNode(s, o)
	t.nodes = []*Node{t.node}
	t.listens = []Subscription{{Node: t.node}}
}

// changed reports that the next connection may lead to a server that lacks what the
// last one had.
func (t *oneNode) changed() {
	if !t.moving.Load() {
		t.Tell(Change{Slots: AllSlots, From: t.node, To: t.node})
	}
}

// Node returns the one node.
func (t *oneNode) Node(uint16) (*Node, error) { return t.node, nil }

// Nodes returns the one node.
func (t *oneNode) Nodes() []*Node { return t.nodes }

// Redirect sends a command again by a new connection if a replica refused it, since that
// connection finds the master, or if the server wants credentials. All other refusals
// go to the command's maker: a server of a cluster is not used here at all.
func (t *oneNode) Redirect(from *Node, _ uint16, said redisconn.Refusal) Redirection {
	if said.EndsConnection() {
		return Redirection{Again: true, To: from, Redial: true}
	}
	return Redirection{}
}

// SpansSlots is true: slots mean nothing to one server.
func (t *oneNode) SpansSlots() bool { return true }

// Publish is PUBLISH.
func (t *oneNode) Publish(uint16) luasrc.Arg { return luasrc.Publish }

// Subscriptions is a SUBSCRIBE on the one node.
func (t *oneNode) Subscriptions(uint16) []Subscription { return t.listens }

// String is the address, or the Sentinels' addresses and the master's name.
func (t *oneNode) String() string { return t.node.String() }
