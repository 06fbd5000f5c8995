package topology

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/rlock-go/redisson/internal/command/refusal"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/pubsub"
)

// Sentinel is one master that serves every slot, found by its Sentinels. It is
// one node whoever the master is: each connection begins with the question who
// that is, and the first Sentinel that tells of another one has all connections
// to the former ended at once. That one takes writes for ten seconds more, and
// neither its answers nor its role tell it from the master.
type Sentinel struct {
	u       sentinelURL
	s       Settings
	log     *slog.Logger
	node    *Node
	nodes   []*Node
	listens []Subscription
	feed    *Feed

	life  context.Context // ended by Close, after the node
	end   context.CancelFunc
	tasks sync.WaitGroup // questions, and the goroutine that looks
	news  chan struct{}  // cap 1: something is to be looked at

	lookAtLeast time.Duration // that constant, but for tests

	mu      sync.Mutex // guards all below; never held during I/O
	choice  choice
	nodesAt map[string]*redisconn.Target // the masters so far, with the connections to them
	peers   []*peer                      // the Sentinels that are known
	begun   bool                         // the Sentinels are listened to
	turned  int                          // how often all that answered refused, before any has said who is master
	closed  bool
}

// peer is a Sentinel that is known.
type peer struct {
	t      *Sentinel
	target *redisconn.Target
	hub    *pubsub.Hub // of its messages

	given bool // the URL has it; never changes

	// Guarded by t.mu.
	id string // its own; empty: unknown
}

func (p *peer) close() { p.hub.Close() }

// errLeft is the end of a connection to a former master.
var errLeft = errors.New("the Sentinels have another master")

// leave ends all connections to former, which by is the first to say is not the
// master any more.
func (t *Sentinel) leave(former, now, by string) {
	t.log.LogAttrs(context.Background(), slog.LevelWarn, "master changed",
		slog.String("from", former), slog.String("to", now), slog.String("sentinel", by))
	t.mu.Lock()
	target := t.nodesAt[former] // stays: a dial under way would be missed when it is left again
	t.mu.Unlock()
	if target != nil {
		target.Sever(fmt.Errorf("%w: %s instead of %s", errLeft, now, former))
	}
}

// Node is the one.
func (t *Sentinel) Node(uint16) (*Node, error) { return t.node, nil }

// Only is the one too.
func (t *Sentinel) Only() *Node { return t.node }

// Nodes has the one.
func (t *Sentinel) Nodes() []*Node { return t.nodes }

// Redirect has a command that a replica refused ask the Sentinels anew.
func (t *Sentinel) Redirect(from *Node, _ uint16, said refusal.Refusal) Redirection {
	if said.ReadOnly() {
		return Redirection{Again: true, To: from, Redial: true}
	}
	return Redirection{}
}

// SpansSlots is true: slots mean nothing to one master.
func (t *Sentinel) SpansSlots() bool { return true }

// Publish is PUBLISH.
func (t *Sentinel) Publish(uint16) []luasrc.Arg { return publishes }

// Subscriptions is a SUBSCRIBE on the one node.
func (t *Sentinel) Subscriptions(uint16) []Subscription { return t.listens }

// Changes tells of each connection that ended, and of each other master.
func (t *Sentinel) Changes() <-chan []Change { return t.feed.Changes() }

// Unsubscribe closes the hub.
func (t *Sentinel) Unsubscribe() {
	go t.node.Hub.Close() // Close waits for it too
}

// Close ends the node, then what listens to the Sentinels: until then the node
// may have to connect.
func (t *Sentinel) Close(patience time.Duration) {
	CloseAll(t.nodes, patience)
	t.mu.Lock()
	t.closed = true
	peers := t.peers
	t.mu.Unlock()
	t.end()
	var all sync.WaitGroup
	for _, p := range peers {
		all.Go(p.close)
	}
	all.Wait()
	t.tasks.Wait()
	t.feed.Close()
}

// String is the Sentinels' addresses and the master's name.
func (t *Sentinel) String() string { return t.node.String() }
