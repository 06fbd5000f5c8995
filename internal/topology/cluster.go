package topology

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/background"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// errNoMap is why no node serves a slot before the first look.
var errNoMap = errors.New("it is not known yet which server of the cluster serves the slot")

// Cluster is the masters of a Redis Cluster. Each has a node as soon as it has
// slots, and that has connections when it is used. Which slots it has is known
// from CLUSTER SLOTS, see cluster_look.go, and from redirections.
type Cluster struct {
	*Feed  // of slots that have another master, and of connections that ended
	s      Settings
	seeds  []string          // of the URL, host:port
	target *redisconn.Target // of all servers, but for the address

	table   [slotCount]atomic.Pointer[Node] // written under mu
	nodes   atomic.Pointer[[]*Node]         // likewise; replaced, never changed
	sharded atomic.Bool                     // the server that was asked last knows sharded channels
	warned  string                          // what warn told last; of the goroutine that looks

	mu       sync.Mutex // guards what follows
	by       map[string]*member
	recently map[uint16]time.Time // slots that a redirection has told of, and when the last did
	others   map[string]string    // addresses of replicas, and their masters'
	failed   error                // why the last look told nothing, or not all
	told     string               // the server that told the last map
	looked   chan struct{}        // closed, and replaced, when a look ends

	look    chan struct{}   // of one: look at once
	life    context.Context // ended by Close, with mu held
	end     context.CancelFunc
	running sync.WaitGroup // who looks, and nodes that leave
}

// member is a node of a cluster.
type member struct {
	node  *Node
	asked time.Time // when it was last asked by ASK
	moved time.Time // when a redirection last told of a slot of its
	used  bool      // it may have connections
	idle  int       // looks in a row that found it unused
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

// lookSoon has the map looked at.
func (t *Cluster) lookSoon() { background.Signal(t.look) }

// Nodes has the masters, and servers that take a slot over.
func (t *Cluster) Nodes() []*Node { return *t.nodes.Load() }

// FailsOver is true.
func (t *Cluster) FailsOver() bool { return true }

// SpansSlots is false: a script has keys of one slot.
func (t *Cluster) SpansSlots() bool { return false }

// Close ends all nodes, and waits for those that have left.
func (t *Cluster) Close(patience time.Duration) {
	t.mu.Lock()
	t.end()
	t.mu.Unlock()
	CloseAll(t.Nodes(), patience)
	t.running.Wait()
	t.Feed.Close()
}

// String has the addresses of the URL.
func (t *Cluster) String() string { return strings.Join(t.seeds, ",") }
