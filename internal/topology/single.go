package topology

import (
	"context"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/command/refusal"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// Single is one server that serves every slot, dialled or reached through a
// pool. Its address may come to mean another server: a former master that
// answers READONLY, or a name that leads elsewhere, makes its connections
// anew.
type Single struct {
	node    *Node
	nodes   []*Node
	listens []Subscription
	feed    *Feed
	address *addressWatch // nil: the address is no name, or a pool's business
}

// publishes is what one server's listeners hear.
var publishes = []luasrc.Arg{luasrc.Publish}

// dialled is Single for a URL.
func dialled(target *redisconn.Target, s Settings) *Single {
	t := newSingle(s, NodeOptions{Name: target.Address, Dial: func(ctx context.Context) (redis.Conn, error) {
		return target.Dial(ctx, s.Timeout)
	}})
	if target.Named() {
		t.address = watchAddress(target.Moved, s.Timeout, t.node.Redial)
	}
	return t
}

// Borrowed is Single for a pool, whose server has no name here.
func Borrowed(pool redisconn.Pool, s Settings) *Single {
	return newSingle(s, NodeOptions{Lent: true, Dial: func(ctx context.Context) (redis.Conn, error) {
		return redisconn.Borrow(ctx, pool)
	}})
}

func newSingle(s Settings, o NodeOptions) *Single {
	t := &Single{feed: NewFeed()}
	o.Timeout, o.Clock, o.Logger, o.Replicas = s.Timeout, s.Clock, s.Logger, s.Replicas
	// A server that was restarted, or replaced, may have lost what it had.
	o.Ended = func() { t.feed.Tell(Change{Slots: AllSlots, From: t.node, To: t.node, DataMayBeLost: true}) }
	t.node = NewNode(o)
	t.nodes = []*Node{t.node}
	t.listens = []Subscription{{Node: t.node}}
	return t
}

// Node is the one.
func (t *Single) Node(uint16) (*Node, error) { return t.node, nil }

// Only is the one too.
func (t *Single) Only() *Node { return t.node }

// Nodes has the one.
func (t *Single) Nodes() []*Node { return t.nodes }

// Redirect sends a command that a replica refused to the server that the
// address leads to. A node of a cluster behind the address is not used at all,
// so that anything else it says is said to the command's maker.
func (t *Single) Redirect(from *Node, _ uint16, said refusal.Refusal) Redirection {
	if said.ReadOnly() {
		return Redirection{Again: true, To: from, Redial: true}
	}
	return Redirection{}
}

// SpansSlots is true: slots mean nothing to one server.
func (t *Single) SpansSlots() bool { return true }

// Publish is PUBLISH.
func (t *Single) Publish(uint16) []luasrc.Arg { return publishes }

// Subscriptions is a SUBSCRIBE on the one node.
func (t *Single) Subscriptions(uint16) []Subscription { return t.listens }

// Changes tells of each connection that ended.
func (t *Single) Changes() <-chan []Change { return t.feed.Changes() }

// Unsubscribe closes the hub.
func (t *Single) Unsubscribe() {
	go t.node.Hub.Close() // Close waits for it too
}

// Close ends the node.
func (t *Single) Close(patience time.Duration) {
	if t.address != nil {
		t.address.end()
	}
	CloseAll(t.nodes, patience)
	t.feed.Close()
}

// String is the address.
func (t *Single) String() string { return t.node.String() }
