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

// stays asks the masters whether the one at addr is in its place, and those that
// it has lost whether they are masters. See pipeline.Node.
func (t *Cluster) stays(ctx context.Context, addr string, gone []string) error {
	return stays(ctx, t.target, gone, func(ctx context.Context) error {
		masters := t.masters()
		said := make([]string, len(masters))
		var all sync.WaitGroup
		for i, m := range masters {
			all.Go(func() {
				_ = t.target.At(m.name).Ask(ctx, longestMap, func(c redis.Conn) (err error) { // empty: it does not say
					said[i], err = redis.String(redisconn.Do(ctx, c, "CLUSTER", "NODES"))
					return err
				})
			})
		}
		all.Wait()
		own := slices.IndexFunc(masters, func(m *Node) bool { return m.name == addr })
		if own < 0 {
			return errNotItself
		}
		return clusterStays(said, said[own])
	})
}

var (
	errNotItself = errors.New("it is no master any more")
	errDenied    = errors.New("a master of the cluster calls it dead, or a replica")
)

// clusterStays is nil if most masters call the one that says own a master with
// slots, without a mark, and none calls it anything but a master. Each says a line for
// each server: its id, its address, its flags, five words more, and its slots.
func clusterStays(said []string, own string) error {
	id, n := "", 0
	for line := range strings.Lines(own) {
		if words := strings.Fields(line); len(words) > 2 && slices.Contains(strings.Split(words[2], ","), "myself") {
			id = words[0]
		}
	}
	for _, text := range said {
		for line := range strings.Lines(text) {
			words := strings.Fields(line)
			if len(words) < 8 || words[0] != id {
				continue
			}
			switch strings.TrimSuffix(strings.TrimPrefix(words[2], "myself,"), ",nofailover") {
			case "master":
				if len(words) > 8 {
					n++
				}
			case "master,fail?": // by its own word only
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

// replicas are those of the master at addr in the last map.
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
