package topology

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/command/refusal"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// Publish is what a release publishes in a cluster.
type Publish uint8

// The plain kind reaches who subscribes by SUBSCRIBE, the sharded one who does by
// SSUBSCRIBE. A waiter of this library does both.
const (
	PublishBoth    Publish = iota // SPUBLISH and PUBLISH
	PublishSharded                // SPUBLISH
	PublishPlain                  // PUBLISH
)

var publishesBoth, publishesSharded = []luasrc.Arg{luasrc.SPublish, luasrc.Publish}, []luasrc.Arg{luasrc.SPublish}

// unsettledPause is that of a command whose slot is in two places, or nobody's.
const unsettledPause = 20 * time.Millisecond

// errNoMap is why no node serves a slot before the first look.
var errNoMap = errors.New("it is not known yet which server of the cluster serves the slot")

// Cluster is the masters of a Redis Cluster. Each has a node as soon as it has
// slots, and that has connections when it is used. Which slots it has is known
// from CLUSTER SLOTS, see cluster_look.go, and from redirections.
type Cluster struct {
	s      Settings
	seeds  []string          // of the URL, host:port
	target *redisconn.Target // of all servers, but for the address
	feed   *Feed

	table    [slotCount]atomic.Pointer[Node] // written under mu
	nodes    atomic.Pointer[[]*Node]         // likewise; replaced, never changed
	sharded  atomic.Bool                     // the server that was asked last knows sharded channels
	underWay pipeline.UnderWay               // on all nodes

	mu       sync.Mutex // guards what follows
	by       map[string]*member
	recently map[uint16]moved // slots that a redirection has told of
	others   []string         // addresses of replicas
	failed   error            // why the last look told nothing
	told     string           // the server that told the last map
	looked   chan struct{}    // closed, and replaced, when a look ends
	closed   bool

	look    chan struct{} // of one: look at once
	stop    context.CancelFunc
	running sync.WaitGroup // who looks, and nodes that leave
}

// member is a node of a cluster.
type member struct {
	node  *Node
	addr  string
	slots int       // how many of the table are its
	asked time.Time // when it was last asked by ASK
	used  bool      // it may have connections
	idle  int       // looks in a row that found it unused
}

// moved is what a redirection told.
type moved struct {
	to *Node
	at time.Time
}

func newCluster(seeds []string, target *redisconn.Target, s Settings) *Cluster {
	ctx, stop := context.WithCancel(context.Background())
	t := &Cluster{
		s: s, seeds: seeds, target: target, feed: NewFeed(), by: map[string]*member{}, recently: map[uint16]moved{},
		look: make(chan struct{}, 1), looked: make(chan struct{}), stop: stop,
	}
	t.nodes.Store(new([]*Node))
	t.running.Go(func() { t.watch(ctx) })
	return t
}

// Node gives the slot's master, once it is known.
func (t *Cluster) Node(slot uint16) (*Node, error) {
	if n := t.table[slot].Load(); n != nil {
		return n, nil
	}
	t.lookSoon()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed != nil {
		return nil, fmt.Errorf("%w: %w", errNoMap, t.failed)
	}
	return nil, errNoMap
}

// Only is none: slots move.
func (t *Cluster) Only() *Node { return nil }

// Nodes has the masters, and servers that take a slot over.
func (t *Cluster) Nodes() []*Node { return *t.nodes.Load() }

// Redirect follows MOVED and ASK, and waits out the rest.
func (t *Cluster) Redirect(from *Node, slot uint16, said refusal.Refusal) Redirection {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return Redirection{}
	}
	wait := Redirection{Again: true, After: unsettledPause}
	if at, ok := said.Moved(); ok {
		t.lookSoon()
		addr := splitPlace(at.Addr, from.String())
		if addr == "" || addr == from.String() {
			return wait
		}
		m := t.member(addr)
		t.recently[at.Slot] = moved{m.node, time.Now()}
		t.give(Range{at.Slot, at.Slot}, m, false)
		return Redirection{Again: true, To: m.node}
	}
	if at, ok := said.Ask(); ok {
		addr := splitPlace(at.Addr, from.String())
		if addr == "" {
			return wait
		}
		m := t.member(addr)
		m.asked, m.used = time.Now(), true
		return Redirection{Again: true, To: m.node, Asking: true}
	}
	t.lookSoon()
	return wait
}

// SpansSlots is false: a script has keys of one slot.
func (t *Cluster) SpansSlots() bool { return false }

// Publish is as it was set, where the slot's server knows sharded channels.
func (t *Cluster) Publish(slot uint16) []luasrc.Arg {
	switch n := t.table[slot].Load(); {
	case t.s.Publish == PublishPlain || n == nil && !t.sharded.Load() || n != nil && !n.sharded.Load():
		return publishes
	case t.s.Publish == PublishSharded:
		return publishesSharded
	}
	return publishesBoth
}

// Subscriptions are both kinds, on the slot's master, since nobody knows who
// publishes what. While its master is not known a server of the URL does: there
// will be a change.
func (t *Cluster) Subscriptions(slot uint16) []Subscription {
	n := t.table[slot].Load()
	if n == nil {
		t.lookSoon()
		t.mu.Lock()
		m := t.member(t.seeds[0])
		m.asked = time.Now()
		t.mu.Unlock()
		return []Subscription{{Node: m.node}}
	}
	if !n.sharded.Load() {
		return []Subscription{{Node: n}}
	}
	return []Subscription{{Node: n, Sharded: true}, {Node: n}}
}

// Changes tells of slots that have another master, and of connections that ended.
func (t *Cluster) Changes() <-chan []Change { return t.feed.Changes() }

// Unsubscribe closes the hubs.
func (t *Cluster) Unsubscribe() {
	for _, n := range t.Nodes() {
		go n.Hub.Close() // Close waits for it too
	}
}

// Close ends all nodes, and waits for those that have left.
func (t *Cluster) Close(patience time.Duration) {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.stop()
	CloseAll(t.Nodes(), patience)
	t.running.Wait()
	t.feed.Close()
}

// String has the addresses of the URL.
func (t *Cluster) String() string { return strings.Join(t.seeds, ",") }
