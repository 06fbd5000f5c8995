package topology

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// stays asks the masters whether the one at addr still is a master, and the replicas
// that it lost whether they have become masters. See pipeline.Node.
func (t *Cluster) stays(ctx context.Context, addr string, gone []string) error {
	ctx, cancel := context.WithTimeout(ctx, lossTimeout)
	defer cancel()
	masters := t.masters()
	said := make([]string, len(masters))
	var all sync.WaitGroup
	for i, m := range masters {
		all.Go(func() {
			_ = t.target.At(m.name).Ask(ctx, longestMap, func(c redis.Conn) (err error) { // no answer leaves it empty
				said[i], err = redis.String(redisconn.Do(ctx, c, "CLUSTER", "NODES"))
				return err
			})
		})
	}
	replicas := find(ctx, t.target, gone, t.left)
	all.Wait()
	own := slices.IndexFunc(masters, func(m *Node) bool { return m.name == addr })
	switch {
	case replicas.next != nil:
		return replicas.next
	case own < 0:
		return errNotItself
	}
	return clusterStays(said, said[own])
}

// left tells whether a former replica that is a master now is none of this cluster: it has
// no slots, or knows other servers. A replica that takes over gets the slots at once.
func (t *Cluster) left(ctx context.Context, c redis.Conn) bool {
	c.(interface{ Admit(int) }).Admit(longestMap)
	nodes, err := redis.String(redisconn.Do(ctx, c, "CLUSTER", "NODES"))
	if err != nil {
		return false
	}
	a := answer{}
	a.addIDs(nodes)
	_, slots := myself(nodes)
	return !slots || t.foreign(a)
}

// myself returns the id of the server with this answer to CLUSTER NODES, and whether it
// has slots.
func myself(nodes string) (id string, slots bool) {
	for line := range strings.Lines(nodes) {
		if words := strings.Fields(line); len(words) > 2 && slices.Contains(strings.Split(words[2], ","), "myself") {
			return words[0], len(words) > 8
		}
	}
	return "", false
}

var (
	errNotItself = errors.New("it is no master any more")
	errDenied    = errors.New("a master of the cluster calls it dead, or a replica")
)

// clusterStays returns nil if most masters call the server that answered own a master
// with slots, without fail?, and none calls it dead or a replica. It is fail? only after
// cluster-node-timeout. So a master that has no link to it, or no answer to a ping, does
// not count. An answer has a line for each server: its id, address, flags, its master,
// when a ping was sent that is not answered, two more words, its link, and its slots.
func clusterStays(said []string, own string) error {
	id, _ := myself(own)
	n := 0
	for _, text := range said {
		for line := range strings.Lines(text) {
			words := strings.Fields(line)
			if len(words) < 8 || words[0] != id {
				continue
			}
			switch strings.TrimSuffix(strings.TrimPrefix(words[2], "myself,"), ",nofailover") {
			case "master":
				if len(words) > 8 && words[4] == "0" && words[7] == "connected" {
					n++
				}
			case "master,fail?": // the opinion of this master alone
			default:
				return errDenied
			}
		}
	}
	if 2*n > len(said) {
		return nil
	}
	return fmt.Errorf("%d of %d masters say that it stays", n, len(said))
}

// replicas returns the replicas that the master at addr has in the last map.
func (t *Cluster) replicas(addr string) (all []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for replica, master := range t.others {
		if master == addr {
			all = append(all, replica)
		}
	}
	return all
}
