package topology

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/eventlog"
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
	o        NodeOptions
	name     string
	led      atomic.Pointer[string] // where the last connection for commands led, whichever it was; empty: there was none
	touched  atomic.Bool            // something was queued since the last Flush
	used     atomic.Bool            // and since the last Used
	sharded  atomic.Bool            // it knows sharded channels; a cluster's business
}

// NodeOptions are what a topology makes a node of.
type NodeOptions struct {
	Name     string                                    // of the server, for people
	Dial     func(context.Context) (redis.Conn, error) // makes a connection, or borrows one
	Lent     bool                                      // connections are a pool's, which may have no third
	Timeout  time.Duration                             // as in pipeline.Options
	Clock    clock.Clock                               // likewise
	Replicas bool                                      // likewise
	Fixed    bool                                      // likewise
	Logger   *slog.Logger                              // likewise

	// What a topology has to say. Nil: any master will do.
	Usable    func(redisconn.Server) error                   // as in pipeline.Node
	Stays     func(ctx context.Context, gone []string) error // likewise
	Known     func() []string                                // as in pipeline.Replicas
	Elsewhere func(key any)                                  // as in pipeline.Node

	// What it is told. None may block; nil: nobody wants to know.
	Moved       func()                                  // to another server
	Ended       func()                                  // a connection ended
	Trouble     func(error)                             // an attempt to connect failed
	SlotLost    func()                                  // a sharded channel's slot is not served
	Reconnected func(server string, down time.Duration) // it is connected again
}

// NewNode makes a node. The hub follows the pipeline to another server.
func NewNode(o NodeOptions) *Node {
	n := &Node{o: o, name: o.Name}
	n.tracking.n, n.tracking.patience = n, o.Timeout
	n.led.Store(new(string))
	n.Hub = pubsub.New(n.tracking.named(o.Dial), pubsub.Options{
		Timeout: o.Timeout, Permanent: redisconn.Permanent, Logger: o.Logger, Trouble: o.Trouble, SlotLost: o.SlotLost, Reconnected: o.Reconnected,
	})
	pipe := pipeline.Options{Timeout: o.Timeout, Clock: o.Clock, Replicas: o.Replicas, Fixed: o.Fixed, Share: &pipeline.Replicas{Known: o.Known}}
	pipe.Node, pipe.Log = host{Node: n}, eventlog.NewConn(o.Logger, "commands", "unanswered", o.Reconnected)
	n.Pipe = pipeline.New(o.Dial, pipe)
	if o.Replicas {
		n.Renewals.most = maxSynced
	}
	if o.Replicas && !o.Lent {
		pipe.Node, pipe.Log = host{Node: n, aside: true}, eventlog.NewConn(o.Logger, "releases", "unanswered", o.Reconnected)
		pipe.Spare = true
		n.aside = pipeline.New(o.Dial, pipe)
		n.pipes = append(n.pipes, n.aside)
		pipeline.Pair(n.Pipe, n.aside)
	}
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

// List takes how many replicas of its server the topology lists.
func (n *Node) List(replicas int) {
	for _, p := range n.pipes {
		p.List(replicas)
	}
}

// Count has the replicas of its server counted at once.
func (n *Node) Count() {
	for _, p := range n.pipes {
		p.Count()
	}
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
// there is another master. The subscriptions follow, see Node of package
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
