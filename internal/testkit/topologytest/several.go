package topologytest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/topology"
)

// Scheme is the scheme of a URL of several servers.
const Scheme = "redis+several"

// lookEvery is how often Several asks which server has which slots, if no redirection
// makes it ask sooner.
const lookEvery = 500 * time.Millisecond

// unsettled delays a command whose slot is in two places.
const unsettled = 20 * time.Millisecond

var errNoNode = errors.New("no node serves the slot so far")

func init() {
	topology.Register(Scheme, func(rawURL string, s topology.Settings) (topology.Topology, error) {
		return New(strings.TrimPrefix(rawURL, Scheme+"://"), s), nil
	})
}

// Several is the topology of a Cluster.
type Several struct {
	s    topology.Settings
	seed []string
	feed *topology.Feed

	mu     sync.Mutex // guards what follows
	table  [slotCount]*topology.Node
	by     map[string]*topology.Node // by address
	nodes  []*topology.Node          // replaced, never changed
	counts Counts
	closed bool

	look    chan struct{} // cap 1: ask at once
	stop    context.CancelFunc
	running sync.WaitGroup // watch, and nodes that are leaving
}

// Counts are the numbers of redirections, by kind, and of nodes that left.
type Counts struct {
	Moved     int // commands answered MOVED
	Ask       int // ASK
	Unsettled int // TRYAGAIN or CLUSTERDOWN
	ReadOnly  int // READONLY
	Left      int // nodes that left
}

// New makes the topology of the servers at these addresses, separated by commas.
func New(addresses string, s topology.Settings) *Several {
	ctx, stop := context.WithCancel(context.Background())
	t := &Several{
		s: s, seed: strings.Split(addresses, ","), feed: topology.NewFeed(), by: map[string]*topology.Node{},
		look: make(chan struct{}, 1), stop: stop,
	}
	t.running.Go(func() { t.watch(ctx) })
	return t
}

// Node returns the slot's node, once it is known.
func (t *Several) Node(slot uint16) (*topology.Node, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.table[slot]; n != nil {
		return n, nil
	}
	return nil, errNoNode
}

// Nodes returns all nodes that have not left.
func (t *Several) Nodes() []*topology.Node {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.nodes
}

// Redirect follows MOVED and ASK, pauses for TRYAGAIN and CLUSTERDOWN, and reconnects for
// anything else.
func (t *Several) Redirect(from *topology.Node, slot uint16, said redisconn.Refusal) topology.Redirection {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return topology.Redirection{}
	}
	if at, ok := said.Moved(); ok {
		t.counts.Moved++
		n := t.node(at.Addr)
		t.moves(topology.Range{First: at.Slot, Last: at.Slot}, n)
		t.askSoon()
		return topology.Redirection{Again: true, To: n}
	}
	if at, ok := said.Ask(); ok {
		t.counts.Ask++
		return topology.Redirection{Again: true, To: t.node(at.Addr), Asking: true}
	}
	if said.Unsettled() {
		t.counts.Unsettled++
		t.askSoon()
		return topology.Redirection{Again: true, After: unsettled}
	}
	t.counts.ReadOnly++
	return topology.Redirection{Again: true, To: from, Redial: true}
}

// FailsOver is false: a slot has one server, and moves with its keys.
func (t *Several) FailsOver() bool { return false }

// SpansSlots is false: all keys of a script must be in one slot.
func (t *Several) SpansSlots() bool { return false }

// Publish is PUBLISH, which the servers pass on to each other.
func (t *Several) Publish(uint16) luasrc.Arg { return luasrc.Publish }

// Subscriptions is a SUBSCRIBE on the slot's node. While that node is unknown, any other
// will do, since a Change follows.
func (t *Several) Subscriptions(slot uint16) []topology.Subscription {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.table[slot]
	if n == nil {
		n = t.node(t.seed[0])
	}
	return []topology.Subscription{{Node: n}}
}

// Changes reports slots that have another node, and nodes whose connection ended.
func (t *Several) Changes() <-chan []topology.Change { return t.feed.Changes() }

// Close ends all nodes.
func (t *Several) Close(patience time.Duration) {
	t.stop()
	t.running.Wait()
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	topology.CloseAll(t.Nodes(), patience)
	t.feed.Close()
}

// String lists the addresses.
func (t *Several) String() string { return strings.Join(t.seed, ",") }

// Counts returns the counts so far.
func (t *Several) Counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts
}

// node finds or makes the node of an address. It is called with mu held.
func (t *Several) node(addr string) *topology.Node {
	n := t.by[addr]
	if n != nil {
		return n
	}
	target := &redisconn.Target{Address: addr, Name: t.s.ConnectionName}
	n = topology.NewNode(t.s, topology.NodeOptions{
		Name:  addr,
		Dial:  func(ctx context.Context) (redis.Conn, error) { return target.Dial(ctx, t.s.Timeout) },
		Fixed: true,
		Node: pipeline.Node{
			Usable: func(s redisconn.Server) error { s.Mode = ""; return s.Usable() },
			Ended:  func() { t.ended(n) },
			Elsewhere: func(key any) {
				if n, err := t.Node(codec.Slot(key.(string))); err == nil {
					n.Pipe.Discard(key)
				}
			},
		},
	})
	t.by[addr] = n
	t.nodes = append(t.nodes[:len(t.nodes):len(t.nodes)], n)
	return n
}

// moves gives slots to n, and reports a Change for those that n did not have. It is called
// with mu held.
func (t *Several) moves(r topology.Range, n *topology.Node) {
	for slot := int(r.First); slot <= int(r.Last); {
		first, was := uint16(slot), t.table[slot]
		for slot <= int(r.Last) && t.table[slot] == was {
			t.table[slot] = n
			slot++
		}
		if was != n {
			t.feed.Tell(topology.Change{Slots: topology.Slots{{First: first, Last: uint16(slot - 1)}}, From: was, To: n})
		}
	}
}

// ended reports that holds and messages on n may be lost, and asks which server has n's
// slots now.
func (t *Several) ended(n *topology.Node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var slots topology.Slots
	for slot := range t.table {
		if last := len(slots) - 1; t.table[slot] != n {
			continue
		} else if s := uint16(slot); last >= 0 && slots[last].Last+1 == s {
			slots[last].Last = s
		} else {
			slots = append(slots, topology.Range{First: s, Last: s})
		}
	}
	if len(slots) > 0 {
		t.feed.Tell(topology.Change{Slots: slots, From: n, To: n})
	}
	t.askSoon()
}

func (t *Several) askSoon() {
	select {
	case t.look <- struct{}{}:
	default:
	}
}

// watch keeps the table up to date.
func (t *Several) watch(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		t.refresh(ctx)
		select {
		case <-tick.C:
		case <-t.look:
			select { // a pause, to spare the servers
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// refresh takes the table of the first server that gives a complete one.
func (t *Several) refresh(ctx context.Context) {
	t.mu.Lock()
	addresses := append([]string(nil), t.seed...)
	for addr := range t.by {
		addresses = append(addresses, addr)
	}
	t.mu.Unlock()
	for _, addr := range addresses {
		if ranges, err := t.ask(ctx, addr); err == nil && t.learn(ranges) {
			return
		}
	}
}

func (t *Several) ask(ctx context.Context, addr string) ([]slotRange, error) {
	ctx, cancel := context.WithTimeout(ctx, t.s.Timeout)
	defer cancel()
	c, err := redis.DialContext(ctx, "tcp", addr, redis.DialReadTimeout(t.s.Timeout), redis.DialWriteTimeout(t.s.Timeout))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return askSlots(c)
}

// learn takes a table over if it has all slots, and tells whether it does. Servers without
// slots have left.
func (t *Several) learn(ranges []slotRange) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	count, has := 0, map[*topology.Node]bool{}
	for _, r := range ranges {
		count += int(r.Last) - int(r.First) + 1
	}
	if count != slotCount {
		return false
	}
	for _, r := range ranges {
		n := t.node(r.addr)
		has[n] = true
		t.moves(r.Range, n)
	}
	for addr, n := range t.by {
		if !has[n] {
			t.leave(addr, n)
		}
	}
	return true
}

// leave removes a node. It is called with mu held.
func (t *Several) leave(addr string, n *topology.Node) {
	delete(t.by, addr)
	var nodes []*topology.Node
	for _, other := range t.nodes {
		if other != n {
			nodes = append(nodes, other)
		}
	}
	t.nodes = nodes
	t.counts.Left++
	t.running.Go(func() { n.Abandon(t.s.Timeout) })
}
