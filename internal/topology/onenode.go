package topology

import (
	"context"
	"sync"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/refusal"
)

// oneNode is what topologies share in which one node serves every slot, whoever
// the server behind it is.
type oneNode struct {
	*Feed
	node    *Node
	nodes   []*Node
	listens []Subscription

	life  context.Context // ended by Close
	end   context.CancelFunc
	tasks sync.WaitGroup // what looks and asks
}

// begin makes the node, for which o has what is the topology's own.
func (t *oneNode) begin(s Settings, o NodeOptions) {
	t.Feed = NewFeed()
	t.life, t.end = context.WithCancel(context.Background())
	o.Timeout, o.Clock, o.Logger, o.Replicas, o.Ended, o.Reconnected = s.Timeout, s.Clock, s.Log.Logger(), s.Replicas, t.changed, s.Reconnected
	t.node = NewNode(o)
	t.nodes = []*Node{t.node}
	t.listens = []Subscription{{Node: t.node}}
}

// changed tells that the next connection may be to a server that lacks what this
// one had.
func (t *oneNode) changed() { t.Tell(Change{Slots: AllSlots, From: t.node, To: t.node}) }

// Node is the one.
func (t *oneNode) Node(uint16) (*Node, error) { return t.node, nil }

// Nodes has the one.
func (t *oneNode) Nodes() []*Node { return t.nodes }

// Redirect has a command that a replica refused sent by a new connection, which
// finds the master, and so one that was refused for want of credentials. A node of a cluster is not used at all, so that anything else
// it says is said to the command's maker.
func (t *oneNode) Redirect(from *Node, _ uint16, said refusal.Refusal) Redirection {
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
