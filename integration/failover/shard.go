package main

import (
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/testbed"
)

// late is what a busy machine may add to a third of a lease.
const late = 500 * time.Millisecond

// pausedRounds have one shard stand still, without a failover.
func pausedRounds(rounds int, tell func(result)) {
	several(clusterPaused, patient, rounds, tell, func(c *cluster, i int) result {
		hit := i % masters
		var struck, went time.Time
		return scene{
			kind: clusterPaused, urls: c.urls(), witness: c.witness,
			contested: on(fmt.Sprintf("contested:%d:%%d", i), 4), kept: on(fmt.Sprintf("kept:%d:%%d", i), 10),
			affected: func(name string) bool { return shard(name) == hit },
			strike: func() {
				struck = time.Now()
				c.Servers[hit].Pause()
				time.Sleep(still)
				c.Servers[hit].Resume()
				went = time.Now()
			},
			present: c.present,
			inspect: func(l *load, r *result) {
				for _, h := range l.standing {
					if shard(h.hold.Name()) == hit {
						continue
					}
					gaps := c.witness.Gaps(h.owner, struck, went)
					if len(gaps) == 0 {
						r.violate("%v was not renewed in %v", h.hold, still)
					}
					for _, gap := range gaps {
						r.gap = max(r.gap, gap)
					}
					if h.hold.Err() != nil {
						r.violate("%v, on a shard that worked, ended with %v", h.hold, h.hold.Err())
					}
				}
				if r.gap > lease/3+late {
					r.violate("%v passed between two renewals on shards that worked", r.gap)
				}
			},
		}.play()
	})
}

// crowd is how many locks of one slot are held, and waited for.
const crowd = 1000

// movedRounds have a slot leave its master with all its keys, while they are in use.
func movedRounds(rounds int, tell func(result)) {
	several(clusterMoved, patient, rounds, tell, func(c *cluster, i int) result {
		slot := codec.Slot("{moved}")
		var from, to int
		r := scene{
			kind: clusterMoved, urls: c.urls(), witness: c.witness,
			contested: names(fmt.Sprintf("{moved}:contested:%d:%%d", i), 8), kept: names(fmt.Sprintf("{moved}:kept:%d:%%d", i), crowd),
			strike: func() {
				from = c.MasterOf(slot)
				to = (from + 1) % masters
				c.Move(from, to, slot)
				if !testbed.Within(patience, func() bool { return c.MasterOf(slot) == to }) {
					c.t.Fatalf("the slot did not come to server %d", to)
				}
			},
			present: c.present,
		}.play()
		if r.lost > 0 {
			r.violate("%d of %d holds were lost, though nothing was", r.lost, crowd)
		}
		return r
	})
}

// several plays rounds on one cluster.
func several(kind string, silence time.Duration, rounds int, tell func(result), play func(c *cluster, i int) result) {
	r := guarded(kind, func(t *testbed.Program) result {
		c := startCluster(t, silence)
		for i := range rounds {
			tell(play(c, i))
		}
		return result{kind: kind}
	})
	if len(r.wrong) > 0 {
		tell(r)
	}
}

// present tells whether the master has a hold.
func (c *cluster) present(name, owner string) (bool, error) {
	return redis.Bool(c.Conn(c.MasterOf(codec.Slot(name))).Do("HEXISTS", name, owner))
}
