package topology

import (
	"context"
	"errors"
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// A server's address proves nothing: a server of another cluster may get it, and accept
// the same credentials. So a client remembers the node ids of its cluster. A map counts if
// most of them are in it. Any other map counts only if most hosts of the URL agree on it:
// the cluster was made anew. A connection asks for its server's id before any command.

// ids are the node ids of a cluster's servers.
type ids map[string]bool

// errOtherCluster is why a server of another cluster is not used.
var errOtherCluster = errors.New("a server of another cluster, or of none, answers at this address")

// in tells whether most of these servers are in a map with those.
func (all ids) in(those ids) bool {
	n := 0
	for id := range all {
		if those[id] {
			n++
		}
	}
	return 2*n > len(all) || len(all) == 0
}

// addIDs adds the servers that CLUSTER SLOTS and CLUSTER NODES list. A server in handshake
// has no lasting id.
func (a *answer) addIDs(nodes string) {
	a.ids = ids{}
	for _, r := range a.m {
		for _, id := range r.ids {
			a.ids[id] = true
		}
	}
	for line := range strings.Lines(nodes) {
		if words := strings.Fields(line); len(words) > 2 && !strings.Contains(words[2], "handshake") {
			a.ids[words[0]] = true
		}
	}
	delete(a.ids, "")
}

// foreign tells whether a is the map of another cluster than the client's.
func (t *Cluster) foreign(a answer) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.unchecked && !t.ids.in(a.ids)
}

// best picks the map to believe. One from a server that is alone, or of another cluster, is
// believed only if no other counts. An answer without a map means that none does.
func (t *Cluster) best(told []answer) (best answer) {
	rank := func(a answer) int {
		switch {
		case a.m == nil:
			return 0
		case !t.foreign(a):
			if a.alone {
				return 2
			}
			return 3
		case 2*t.seedsIn(told, a) > len(t.seeds):
			return 1
		}
		return -1
	}
	for _, a := range told {
		if rank(a) > rank(best) {
			best = a
		}
	}
	return best
}

// seedsIn counts the URL's hosts whose map is of the cluster that a describes.
func (t *Cluster) seedsIn(told []answer, a answer) (n int) {
	for _, b := range told {
		for _, seed := range t.seeds {
			if b.from == seed && a.ids.in(b.ids) {
				n++
			}
		}
	}
	return n
}

// remember takes over which servers the cluster has. It is called with mu held.
func (t *Cluster) remember(a answer) {
	t.ids = a.ids
	switch {
	case a.unnamed != nil:
		t.uncheck(a.from, a.unnamed)
	case len(a.ids) == 0:
		t.uncheck(a.from, errNoIDs)
	}
}

// errNoIDs is why the servers of a cluster are not checked.
var errNoIDs = errors.New("it names no node ids")

// uncheck ends all checks for good: ids are not to be had, or a proxy has others. It is
// called with mu held.
func (t *Cluster) uncheck(server string, why error) {
	if !t.unchecked {
		t.unchecked = true
		t.running.Go(func() { t.s.Log.IDsUnchecked(server, why) })
	}
}

// greet asks a new connection's server for its id, and whether it supports sharded
// channels. An error means that the server must not be used.
func (t *Cluster) greet(ctx context.Context, n *Node, conn redis.Conn) error {
	_ = conn.Send("CLUSTER", "MYID")
	_ = conn.Send("SPUBLISH", probe, "")
	if err := conn.Flush(); err != nil {
		return err
	}
	id, err := redis.String(redisconn.Receive(ctx, conn))
	if err = t.admit(n.name, id, err); err != nil {
		return err
	}
	_, err = redisconn.Receive(ctx, conn)
	if knows, said := sharded(err); said {
		n.sharded.Store(knows)
	}
	if r, _ := redisconn.RefusalOf(err); r.Forbidden() && !r.Unknown() { // an older server has none
		t.s.Log.CommandRefused(nil, n.name, "SPUBLISH", err)
	}
	return nil
}

// admit decides whether the server with this answer to CLUSTER MYID is used.
func (t *Cluster) admit(addr, id string, err error) error {
	said, refused := redisconn.RefusalOf(err)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.unchecked || len(t.ids) == 0:
		return nil
	case t.ids[id]:
		t.checked = true
		return nil
	case err != nil && (!refused || said.Passing()):
		return err
	case !t.checked || said.NotAllowed():
		if err == nil {
			err = errOtherID
		}
		t.uncheck(addr, err)
		return nil
	}
	return errOtherCluster
}

// errOtherID is why the servers of a cluster behind proxies are not checked.
var errOtherID = errors.New("its node id is not in the cluster's map")
