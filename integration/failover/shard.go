package main

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/testbed"
)

// pausedRounds have one shard stand still, without a failover.
func pausedRounds(w row, rounds int, tell func(result)) {
	several(w, patient, rounds, tell, func(c *cluster, i int) result {
		hit := i % masters
		var struck, went time.Time
		return scene{
			row: w, urls: c.urls(), witness: c.witness, lease: brief,
			contested: on(fmt.Sprintf("contested:%d:%%d", i), 4, 4, 4), kept: on(fmt.Sprintf("kept:%d:%%d", i), 10, 10, 10),
			affected: func(name string) bool { return shard(name) == hit },
			strike: func() time.Time {
				struck = time.Now()
				c.Servers[hit].Pause()
				time.Sleep(still)
				c.Servers[hit].Resume()
				went = time.Now()
				return went
			},
			present: c.present,
			inspect: func(l *load, r *result) {
				for _, h := range l.kept {
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
				if r.gap > brief/3+late {
					r.violate("%v passed between two renewals on shards that worked", r.gap)
				}
			},
		}.play()
	})
}

// crowd is how many locks of one slot are held, and waited for.
const crowd = 1000

// movedRounds have a slot leave its master with all its keys, while they are in use.
func movedRounds(w row, rounds int, tell func(result)) {
	several(w, patient, rounds, tell, func(c *cluster, i int) result {
		slot := codec.Slot("{moved}")
		var from, to int
		return scene{
			row: w, urls: c.urls(), witness: c.witness, lease: brief,
			contested: names(fmt.Sprintf("{moved}:contested:%d:%%d", i), 8), kept: names(fmt.Sprintf("{moved}:kept:%d:%%d", i), crowd),
			strike: func() time.Time {
				from = c.MasterOf(slot)
				to = (from + 1) % masters
				c.Move(from, to, slot)
				if !testbed.Within(patience, func() bool { return c.MasterOf(slot) == to }) {
					c.t.Fatalf("the slot did not come to server %d", to)
				}
				return time.Now()
			},
			present: c.present,
		}.play()
	})
}
