package topology

import (
	"errors"
	"sync"
	"time"

	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/pubsub"
)

// Sentinel is one master that serves every slot, found by its Sentinels, see oneMaster.
// When any Sentinel announces another master, all connections to the former one end at
// once: it takes writes for ten seconds more, and neither its answers nor its role show
// that it was replaced.
type Sentinel struct {
	oneMaster
	u Parts

	news chan struct{} // cap 1: look asks the Sentinels soon

	lookAtLeast time.Duration // the constant; tests change it
	warned      sync.Once     // that holds may not survive the failover from a dead master

	mu        sync.Mutex // guards all below, and the end of life; never held during I/O
	choice    choice
	sentinels []*sentinelNode // all that are known
	begun     bool            // listen has subscribed
	known     []string        // the master's replicas, see locate
	turned    int             // rounds in which all that answered refused, before any named a master
}

// sentinelNode is one Sentinel.
type sentinelNode struct {
	t      *Sentinel
	target *redisconn.Target
	hub    *pubsub.Hub // for its messages

	given bool // by the URL; never changes

	// Guarded by t.mu.
	id string // the Sentinel's id; empty: unknown
}

// errLeft is why a connection to a former master ends.
var errLeft = errors.New("the Sentinels have another master")

// electsFor is how long a failover takes after the master counts as down.
const electsFor = 2 * time.Second

// Close ends the node, then the connections to the Sentinels, since a node that ends
// may have to connect.
func (t *Sentinel) Close(patience time.Duration) {
	CloseAll(t.nodes, patience)
	t.mu.Lock()
	t.end()
	sentinels := t.sentinels
	t.mu.Unlock()
	for _, p := range sentinels {
		t.tasks.Go(func() { p.hub.Close() })
	}
	t.tasks.Wait()
	t.Feed.Close()
}
