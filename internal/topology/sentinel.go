package topology

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/command/refusal"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
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

// errLeft is the end of a connection to a former master.
var errLeft = errors.New("the Sentinels have another master")

func newSentinel(u sentinelURL, s Settings) *Sentinel {
	t := &Sentinel{u: u, s: s, log: s.Logger, feed: NewFeed(), news: make(chan struct{}, 1), nodesAt: map[string]*redisconn.Target{}, lookAtLeast: lookAtLeast}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	t.life, t.end = context.WithCancel(context.Background())
	for _, addr := range u.sentinels {
		t.peers = append(t.peers, newPeer(t, sentinelAddr{addr: addr}, true))
	}
	// The next connection may be to a server that lacks what this one had.
	changed := func() { t.feed.Tell(Change{Slots: AllSlots, From: t.node, To: t.node, DataMayBeLost: true}) }
	t.node = NewNode(NodeOptions{
		Name: u.String(), Dial: t.dial, Timeout: s.Timeout, Clock: s.Clock, Logger: s.Logger, Replicas: s.Replicas, Keep: true,
		Ended: changed, Moved: changed,
	})
	t.nodes = []*Node{t.node}
	t.listens = []Subscription{{Node: t.node}}
	return t
}

// dial asks the Sentinels for the master and connects to it; ctx has a deadline.
func (t *Sentinel) dial(ctx context.Context) (redis.Conn, error) {
	t.listen()
	addr, err := t.locate(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := t.target(addr).Dial(ctx, t.s.Timeout)
	if err != nil {
		return nil, err
	}
	// Only now: a connection that is open is ended by whoever leaves the master.
	if err = t.stillMaster(addr); err == nil {
		err = checkRole(ctx, conn)
	}
	if err != nil {
		conn.(interface{ Interrupt() }).Interrupt()
		_ = conn.Close() // the error is the one that counts
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	return conn, nil
}

// target is the server at addr, with the connections to it.
func (t *Sentinel) target(addr string) *redisconn.Target {
	t.mu.Lock()
	defer t.mu.Unlock()
	target := t.nodesAt[addr]
	if target == nil {
		target = nodeTarget(t.u, t.s, addr)
		t.nodesAt[addr] = target
	}
	return target
}

func (t *Sentinel) stillMaster(addr string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.choice.master != addr {
		return errLeft
	}
	return nil
}

// locate asks the Sentinels and takes over what they say.
func (t *Sentinel) locate(ctx context.Context) (addr string, err error) {
	said := t.askAll(ctx)
	now := time.Now()
	t.mu.Lock()
	best, err := t.choice.believes(said, now)
	err = t.turnedAway(said, err)
	former := ""
	if err == nil {
		former = t.choice.believe(best, now)
	}
	t.mu.Unlock()
	t.meet(said)
	if former != "" {
		t.leave(former, best.master, best.from)
	}
	return best.master, err
}

// turnedAway makes err, why no Sentinel is believed, one for good if Open is to
// tell it at once: none has ever been believed, and all that answered refused, also
// the second time, when credentials have been asked for anew. It is called with mu
// held.
func (t *Sentinel) turnedAway(said []testimony, err error) error {
	silence, silent := errors.AsType[*silenceError](err)
	if !silent || !t.choice.seen.IsZero() {
		return err
	}
	answered := false
	for _, one := range said {
		if r, ok := refusal.Of(one.err); ok {
			if answered = true; !r.OfConnection() {
				return err
			}
		}
	}
	if answered {
		t.turned++
	}
	silence.passes = silence.passes && t.turned < 2
	return silence
}

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
