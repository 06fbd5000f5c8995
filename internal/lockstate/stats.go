package lockstate

import (
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/watchdog"
)

// counts are of one kind, since the client began.
type counts struct {
	acquires [observe.Outcomes]atomic.Int64
	lost     [observe.Reasons]atomic.Int64
	unsure   atomic.Int64 // releases
	undone   atomic.Int64
	renewals atomic.Int64
}

func (l *Lock) counts() *counts { return &l.c.counts[l.traits.Label] }

// Counts is what a client has of one kind, and had since it began.
type Counts struct {
	Holds, Waiters int                     // now
	Acquires       [observe.Outcomes]int64 // that have ended
	Lost           [observe.Reasons]int64  // holds
	Undone         int64                   // acquires
	Unsure         int64                   // releases
	Renewals       int64                   // leases that were extended
	Least          time.Duration           // the shortest time for which a hold is trusted; watchdog.Never: none is held
}

// Stats is a snapshot of the client by kind, how often a connection took the place of
// another, and how many events nobody observed. It locks one shard after the other.
func (c *State) Stats() (all [kind.Labels]Counts, reconnects, dropped int64) {
	for i := range all {
		to, from := &all[i], &c.counts[i]
		to.Least = watchdog.Never
		for j := range to.Acquires {
			to.Acquires[j] = from.acquires[j].Load()
		}
		for j := range to.Lost {
			to.Lost[j] = from.lost[j].Load()
		}
		to.Undone, to.Unsure, to.Renewals = from.undone.Load(), from.unsure.Load(), from.renewals.Load()
	}
	c.eachName(func(n *name) {
		for st := n.states; st != nil; st = st.next {
			for h := st.holds; h != nil; h = h.next {
				to := &all[h.l.traits.Label]
				to.Holds++
				to.Least = min(to.Least, max(h.trust()-n.now(), 0))
			}
		}
		for q := n.queues; q != nil; q = q.next {
			for w := range q.Waiting() {
				all[w.Call.(*Waiter).l.traits.Label].Waiters++
			}
		}
	})
	return all, c.reconnects.Load(), c.events.Dropped()
}
