package topology

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// errNoMap is the error for a slot whose node is not known yet.
var errNoMap = errors.New("it is not known yet which server of the cluster serves the slot")

// Cluster is the topology of a Redis Cluster. Each master with slots has a node, which
// connects when it is first used. The slots are known from CLUSTER SLOTS, see
// cluster_look.go, and from redirections.
type Cluster struct {
	*Feed  // reports slots with another master, and connections that ended
	s      Settings
	seeds  []string          // the URL's addresses, host:port
	target *redisconn.Target // how to reach any server, but for its address

	table   [slotCount]atomic.Pointer[Node] // written under mu
	nodes   atomic.Pointer[[]*Node]         // likewise; replaced, never changed
	sharded atomic.Bool                     // the server that gave the last map supports sharded channels
	warned  string                          // what warn saw last; used by watch's goroutine only

	mu       sync.Mutex // guards what follows
	by       map[string]*member
	recently map[uint16]time.Time // slots that a redirection moved, and when
	others   map[string]string    // each replica's address, and its master's
	failed   error                // why the last look found no map, or an incomplete one
	told     string               // the server that gave the last map

	ids       ids  // of the servers in the last map
	checked   bool // a connection's server was one of them
	unchecked bool // ids are not compared, see uncheck

	looked chan struct{} // closed, and replaced, when a look ends

	look    chan struct{}   // cap 1: look at once
	life    context.Context // ended by Close, with mu held
	end     context.CancelFunc
	running sync.WaitGroup // watch, and nodes that are leaving
}

// member is a node of a cluster.
type member struct {
	node  *Node
	asked time.Time // when an ASK, or a subscription without a map, last used it
	moved time.Time // when a MOVED last named it
	used  bool      // it may have connections
	idle  int       // looks in a row that found it unused
}

// Node returns the slot's master. While that is unknown it asks for a look, and its
// error says why the last one failed.
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

// lookSoon makes watch look at the map.
func (t *Cluster) lookSoon() { clock.Signal(t.look) }

// Nodes returns the masters, and servers that are taking a slot over.
func (t *Cluster) Nodes() []*Node { return *t.nodes.Load() }

// FailsOver is true.
func (t *Cluster) FailsOver() bool { return true }

// SpansSlots is false: all keys of a script must be in one slot.
func (t *Cluster) SpansSlots() bool { return false }

// Close ends all nodes, and waits for those that are leaving.
func (t *Cluster) Close(patience time.Duration) {
	t.mu.Lock()
	t.end()
	t.mu.Unlock()
	CloseAll(t.Nodes(), patience)
	t.running.Wait()
	t.Feed.Close()
}

// String lists the addresses of the URL.
func (t *Cluster) String() string { return strings.Join(t.seeds, ",") }
