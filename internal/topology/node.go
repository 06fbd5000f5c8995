package topology

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/pubsub"
)

// Node is one server as a client uses it. It connects when it is first used.
type Node struct {
	Pipe     *pipeline.Pipeline // for all commands, except those that go aside
	Hub      *pubsub.Hub        // for all subscriptions
	Renewals Limiter            // limits batches of renewals
	Looks    Limiter            // limits batches that read the keys of holds
	Divided  bool               // it has a second pipeline, see Aside; never changes

	tracking tracking             // of keys that its connections have read
	replicas pipeline.Replicas    // shared by both pipelines
	aside    *pipeline.Pipeline   // see Aside; nil: there is none
	pipes    []*pipeline.Pipeline // Pipe, and aside if there is one
	name     string
	led      atomic.Pointer[string] // server of the last connection that either pipeline made; empty: none yet
	touched  atomic.Bool            // something was queued since the last Touched
	used     atomic.Bool            // likewise, since the last Used
	sharded  atomic.Bool            // it supports sharded channels; used by Cluster only
}

// NodeOptions are what a topology gives to NewNode besides its Settings.
type NodeOptions struct {
	Name  string                                    // the server's, for logs and errors
	Dial  func(context.Context) (redis.Conn, error) // makes a connection, or borrows one
	Lent  bool                                      // connections are borrowed from a pool, which may not have a third
	Fixed bool                                      // as in pipeline.Options
	Node  pipeline.Node                             // what the topology answers and hears; NewNode sets Connected and Untracked
	Known func() []string                           // as in pipeline.Replicas

	// Called when something happens. Neither may block; nil: not called.
	Moved    func() // the node leads to another server
	SlotLost func() // a sharded channel's slot is not served
}

// NewNode makes a node. If the main pipeline moves to another server, the hub follows.
func NewNode(s Settings, o NodeOptions) *Node {
	n := &Node{name: o.Name}
	n.tracking.n, n.tracking.patience = n, s.Timeout
	n.replicas.Known = o.Known
	n.led.Store(new(string))
	n.Hub = pubsub.New(n.tracking.named(o.Dial), pubsub.Options{
		Timeout: s.Timeout, Permanent: redisconn.Permanent, Logger: s.Log.Logger(), Trouble: o.Node.Trouble, SlotLost: o.SlotLost, Reconnected: s.Reconnected,
	})
	pipe := pipeline.Options{Timeout: s.Timeout, Clock: s.Clock, Replicas: s.Replicas, Fixed: o.Fixed, Share: &n.replicas, Refused: s.Log.CommandRefused}
	pipe.Node, pipe.Log = o.Node, eventlog.NewConn(s.Log.Logger(), "commands", "unanswered", s.Reconnected)
	pipe.Node.Untracked = n.tracking.fails
	pipe.Node.Connected = func(server string, moved bool) {
		if n.led.Store(&server); moved {
			n.Hub.Redial()
			if o.Moved != nil {
				o.Moved()
			}
		}
	}
	n.Pipe = pipeline.New(o.Dial, pipe)
	if s.Replicas {
		n.Renewals.most = maxSynced
	}
	if s.Replicas && !o.Lent {
		pipe.Log = eventlog.NewConn(s.Log.Logger(), "releases", "unanswered", s.Reconnected)
		pipe.Spare = true
		pipe.Node.Connected = func(server string, _ bool) { n.led.Store(&server) }
		n.aside = pipeline.New(o.Dial, pipe)
		n.pipes = append(n.pipes, n.aside)
		pipeline.Pair(n.Pipe, n.aside)
		n.Divided = true
	}
	n.pipes = append(n.pipes, n.Pipe)
	return n
}

// String names the server.
func (n *Node) String() string { return n.name }

// Server returns the address of the server that the last connection led to, since the
// node's name may lead to several. Before the first connection it is the name, or
// "pool".
func (n *Node) Server() string {
	return cmp.Or(*n.led.Load(), n.name, "pool")
}

// List sets how many replicas of the server the topology lists.
func (n *Node) List(replicas int) {
	for _, p := range n.pipes {
		p.List(replicas)
	}
}

// HidesReplicas tells whether the server refuses to list its replicas.
func (n *Node) HidesReplicas() bool { return n.replicas.Hidden() }

// Touch records that something was queued on a pipeline.
func (n *Node) Touch() {
	if !n.touched.Load() { // most callers find it set, and need not write
		n.touched.Store(true)
	}
	if !n.used.Load() {
		n.used.Store(true)
	}
}

// Uses tells whether a connection for commands is in use, by its number.
func (n *Node) Uses(connection uint64) bool {
	return slices.ContainsFunc(n.pipes, func(p *pipeline.Pipeline) bool { return p.Uses(connection) })
}

// Used tells whether a command was queued since the last call, or a channel is
// subscribed.
func (n *Node) Used() bool { return n.used.Swap(false) || n.Hub.Channels() > 0 }

// Touched tells whether something was queued since it last returned true. One caller
// gets true, and must flush.
func (n *Node) Touched() bool { return n.touched.Load() && n.touched.Swap(false) }

// Redial replaces all connections, for cause: the server's address leads to another
// server.
func (n *Node) Redial(cause error) {
	if n.aside != nil {
		n.aside.Retire(cause)
	}
	if !n.Pipe.Retire(cause) {
		n.Hub.Redial() // else it follows the pipeline
	}
}

// Retry makes the pipelines connect at once if they pause after a failed attempt, since
// there is another master. The subscriptions follow, see Node of package pipeline.
func (n *Node) Retry() {
	for _, p := range n.pipes {
		p.Retry()
	}
}

// Abandon ends a node that no longer serves anything. Commands that were not written end
// as not sent, with pipeline.ErrGone, and go to the node that serves their slot by then.
// It must follow the Change that moves the node's waiters. It blocks for patience at
// the most.
func (n *Node) Abandon(patience time.Duration) {
	n.end(patience, (*pipeline.Pipeline).Abandon)
}

// end ends each pipeline by how, and closes the hub, all at the same time.
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

// A WAIT delays every command behind it on its connection, by a second while a
// replica is silent. Releases, undos and renewals must not be delayed by the WAIT of
// an acquire. So where WAIT is in use, a node has a second connection for them, made
// when it is first needed. Commands sent there "go aside"; a WAIT follows them too.
//
// No command may rely on the order of commands on two connections:
//   - A command of an owner for a lock is sent when the outcome of the one before it
//     is known.
//   - The undo of a lost acquire follows the kill barrier of the connection that
//     the acquire was written to.
//   - An acquire goes aside too, behind the release, if a release of the same name
//     went aside and is unanswered.
//   - A ForceUnlock goes where acquires go. While one may still run, no acquire of
//     its name goes aside.

// Aside returns the pipeline for commands that go aside. It is Pipe if no WAIT is in
// use or the second connection can't be had.
func (n *Node) Aside() *pipeline.Pipeline {
	if n.aside != nil && n.Pipe.AsksReplicas() && n.aside.Reachable() {
		return n.aside
	}
	return n.Pipe
}

// Flush writes what is queued on both pipelines. It may read replies from Pipe's
// connection for some milliseconds.
func (n *Node) Flush() {
	if n.aside != nil {
		n.aside.WakeWriter()
	}
	n.Pipe.Flush()
}

// WakeWriter is Flush without reading, for callers that must not block.
func (n *Node) WakeWriter() {
	for _, p := range n.pipes {
		p.WakeWriter()
	}
}
