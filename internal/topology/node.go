package topology

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/pubsub"
)

// Node is one server as a client uses it. It has no connection before it is
// asked for something.
type Node struct {
	Pipe     *pipeline.Pipeline // of all commands, but for those that go aside
	Hub      *pubsub.Hub        // of all subscriptions
	Renewals Limiter            // of the batches of renewals
	Looks    Limiter            // of the batches of looks at what is held

	tracking tracking             // of what its connections have read
	aside    *pipeline.Pipeline   // see aside.go; nil: nothing goes there
	pipes    []*pipeline.Pipeline // Pipe, and aside if there is one
	name     string
	led      atomic.Pointer[string] // where the last connection for commands led, whichever it was; empty: there was none
	touched  atomic.Bool            // something was queued since the last Flush
	used     atomic.Bool            // and since the last Used
	sharded  atomic.Bool            // it knows sharded channels; a cluster's business
}

// NodeOptions are what a topology makes a node of.
type NodeOptions struct {
	pipeline.Options // of its pipelines, but for what NewNode sets; the hub has the same Timeout, Logger and Trouble

	Name     string                                    // of the server, for people
	Dial     func(context.Context) (redis.Conn, error) // makes a connection, or borrows one
	Lent     bool                                      // connections are a pool's, which may have no third
	SlotLost func()                                    // a sharded channel's slot is not served; must not block; nil: nobody wants to know
}

// NewNode makes a node. The hub follows the pipeline to another server.
func NewNode(o NodeOptions) *Node {
	n := &Node{name: o.Name}
	n.tracking.n, n.tracking.patience = n, o.Timeout
	n.led.Store(new(string))
	n.Hub = pubsub.New(redisconn.Punctual(n.tracking.named(o.Dial)), pubsub.Options{
		Timeout: o.Timeout, Permanent: redisconn.Permanent, Logger: o.Logger, Trouble: o.Trouble, SlotLost: o.SlotLost, Reconnected: o.Reconnected,
	})
	pipe := o.Options
	pipe.Led = func(server string) { n.led.Store(&server) }
	pipe.Untracked = n.tracking.fails
	pipe.Share = &pipeline.Replicas{}
	if o.Replicas {
		n.Renewals.most = maxSynced
	}
	if o.Replicas && !o.Lent {
		aside := pipe
		aside.Carries, aside.Spare = "releases", true
		aside.Replaced = nil // the hub and the topology follow n.Pipe
		aside.Twin = func() *pipeline.Pipeline { return n.Pipe }
		n.aside = pipeline.New(redisconn.Punctual(o.Dial), aside)
		n.pipes = append(n.pipes, n.aside)
		pipe.Twin = func() *pipeline.Pipeline { return n.aside }
	}
	pipe.Replaced = func() {
		n.Hub.Redial()
		if o.Replaced != nil {
			o.Replaced()
		}
	}
	n.Pipe = pipeline.New(redisconn.Punctual(o.Dial), pipe)
	n.pipes = append(n.pipes, n.Pipe)
	return n
}

// String names the server.
func (n *Node) String() string { return n.name }

// Server is the address that the last connection led to: of a node whose name leads
// to one server or another, to which. It is the name before there was one.
func (n *Node) Server() string {
	return cmp.Or(*n.led.Load(), n.name, "pool")
}

// Touch says that something was queued on a pipeline.
func (n *Node) Touch() {
	if !n.touched.Load() { // most callers find it set, and need not write
		n.touched.Store(true)
	}
	if !n.used.Load() {
		n.used.Store(true)
	}
}

// Used tells whether a command was queued since it was last asked, or somebody
// is subscribed.
func (n *Node) Used() bool { return n.used.Swap(false) || n.Hub.Channels() > 0 }

// Touched tells whether the pipelines are to be flushed, to one caller.
func (n *Node) Touched() bool { return n.touched.Load() && n.touched.Swap(false) }

// Redial has all connections made anew, for cause: the server's address leads
// to another one.
func (n *Node) Redial(cause error) {
	if n.aside != nil {
		n.aside.Retire(cause)
	}
	if !n.Pipe.Retire(cause) {
		n.Hub.Redial() // else that follows
	}
}

// Retry has commands connect at once, if they pause after an attempt that failed:
// there is another master. The subscriptions follow, see Options.Replaced of package
// pipeline.
func (n *Node) Retry() {
	for _, p := range n.pipes {
		p.Retry()
	}
}

// Leave ends a node that serves nothing any more: commands that were not written
// end as not sent, by pipeline.ErrGone, and go to the node that serves their slot
// by then. It follows the Change that moves the node's waiters, and blocks for
// patience at the most.
func (n *Node) Leave(patience time.Duration) {
	n.end(patience, (*pipeline.Pipeline).Leave)
}

// end has each pipeline end by how, and closes the hub.
func (n *Node) end(patience time.Duration, how func(p *pipeline.Pipeline, patience time.Duration)) {
	var all sync.WaitGroup
	all.Go(func() { n.Hub.Close() })
	for _, p := range n.pipes {
		all.Go(func() { how(p, patience) })
	}
	all.Wait()
}

// CloseAll ends nodes, all at the same time.
func CloseAll(nodes []*Node, patience time.Duration) {
	var all sync.WaitGroup
	for _, n := range nodes {
		all.Go(func() { n.end(patience, (*pipeline.Pipeline).Close) })
	}
	all.Wait()
}
