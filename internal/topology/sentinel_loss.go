package topology

import (
	"context"
	"slices"
	"sync"

	"github.com/gomodule/redigo/redis"
)

// stays asks the Sentinels whether the master still is the master, and the replicas
// that it lost whether they have become masters. One that has may have left the set: only
// the Sentinel that leads a failover makes a replica the master, and says so. So if all
// Sentinels answer after that replica, their word counts. See pipeline.Node.
func (t *Sentinel) stays(ctx context.Context, gone []string) error {
	ctx, cancel := context.WithTimeout(ctx, lossTimeout)
	defer cancel()
	var said []testimony
	var asked sync.WaitGroup
	asked.Go(func() { said = t.askAll(ctx, false) })
	replicas := find(ctx, t.to, gone, func(context.Context, redis.Conn) bool { return false })
	if asked.Wait(); replicas.next != nil {
		said = t.askAll(ctx, false)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	of := existing(said, len(t.sentinels))
	if replicas.next != nil && voices(said) < of {
		return replicas.next
	}
	return t.choice.stays(said, of, replicas.dead)
}

// existing counts the Sentinels, by those that answered: they and the Sentinels that
// they know, each once by its id or its address. A Sentinel of the URL that none of them
// knows was replaced, and does not count. If one may not list the others, the result is
// known, the number of Sentinels that the client knows.
func existing(said []testimony, known int) int {
	var all []sentinelAddr
	for _, one := range said {
		if one.err != nil {
			continue
		}
		if one.lonely {
			return known
		}
		for _, m := range append([]sentinelAddr{{one.from, one.id}}, one.others...) {
			if !slices.ContainsFunc(all, m.same) {
				all = append(all, m)
			}
		}
	}
	return len(all)
}

// voices counts the Sentinels that answered. One may have answered at two addresses.
func voices(said []testimony) int {
	var all []sentinelAddr
	for _, one := range said {
		if m := (sentinelAddr{one.from, one.id}); one.err == nil && !slices.ContainsFunc(all, m.same) {
			all = append(all, m)
		}
	}
	return len(all)
}

// replicas returns those that the master is taken to have at first. The Sentinels list the
// former master too, but it follows the next one only some ten seconds later.
func (t *Sentinel) replicas() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.choice.others(t.known)
}
