package topology

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/pubsub"
)

// Sentinel is one master that serves every slot, found by its Sentinels. It is
// one node whoever the master is: each connection begins with the question who
// that is, and the first Sentinel that tells of another one has all connections
// to the former ended at once. That one takes writes for ten seconds more, and
// neither its answers nor its role tell it from the master.
type Sentinel struct {
	oneNode
	u Parts
	s Settings

	news chan struct{} // cap 1: something is to be looked at

	nodesAt sync.Map // by address, *redisconn.Target: the masters so far, with the connections to them

	lookAtLeast time.Duration // that constant, but for tests
	warned      sync.Once     // that failovers may take too long

	mu        sync.Mutex // guards all below, and the end of life; never held during I/O
	choice    choice
	sentinels []*sentinelNode // the Sentinels that are known
	begun     bool            // the Sentinels are listened to
	known     []string        // replicas of the first master; nil: nobody has said so far
	turned    int             // how often all that answered refused, before any has said who is master
}

// sentinelNode is a Sentinel that is known.
type sentinelNode struct {
	t      *Sentinel
	target *redisconn.Target
	hub    *pubsub.Hub // of its messages

	given bool // the URL has it; never changes

	// Guarded by t.mu.
	id string // its own; empty: unknown
}

// errLeft is the end of a connection to a former master.
var errLeft = errors.New("the Sentinels have another master")

// leave ends all connections to former, which by is the first to say is not the
// master any more.
func (t *Sentinel) leave(former master, now, by string) {
	t.s.Log.MasterChanged(former.addr(), now, by)
	t.Tell(Change{Slots: AllSlots, From: t.node, To: t.node, NewMaster: true, FormerAddr: former.addr(), Addr: now})
	for _, name := range former.names {
		if known, ok := t.nodesAt.Load(name); ok { // stays: a dial under way would be missed when it is left again
			target := known.(*redisconn.Target)
			target.Sever(fmt.Errorf("%w: %s instead of %s", errLeft, now, former.addr()))
		}
	}
	t.node.Retry()
}

// electsFor is how long a failover takes from when the master counts as down.
const electsFor = 2 * time.Second

// warn logs once that holds may not outlive the failover of a dead master. A hold
// survives an outage of 0.65 of its lease. A Sentinel that does not say after how
// long warns nobody.
func (t *Sentinel) warn(said testimony) {
	if said.downAfter == 0 || said.downAfter+electsFor <= t.s.Lease*13/20 {
		return
	}
	t.warned.Do(func() { t.s.Log.FailoverTooSlow(said.from, said.downAfter, t.s.Lease) })
}

// FailsOver is true.
func (t *Sentinel) FailsOver() bool { return true }

// Close ends the node, then what listens to the Sentinels: until then the node
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
