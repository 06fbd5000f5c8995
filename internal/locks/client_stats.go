package locks

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// Counts are the numbers of one kind: what the client has now, and the totals since it began.
type Counts struct {
	Holds, Waiters int                     // now
	Acquires       [observe.Outcomes]int64 // that have ended
	Lost           [observe.Reasons]int64  // holds
	Undone         int64                   // acquires
	Unsure         int64                   // releases
	Renewals       int64                   // leases that were extended
	Least          time.Duration           // the shortest time for which a hold is trusted; watchdog.Never: none is held
	Oldest         Age
}

// Age is how long the oldest hold and the oldest wait have lasted; 0: there is none.
type Age struct{ Hold, Wait time.Duration }

// hold and wait count one that began at since.
func (a *Age) hold(now, since time.Duration) { a.Hold = max(a.Hold, now-since) }
func (a *Age) wait(now, since time.Duration) { a.Wait = max(a.Wait, now-since) }

// HidesReplicas tells whether a server refuses to list its replicas.
func (c *Client) HidesReplicas() bool {
	return slices.ContainsFunc(c.top.Nodes(), (*topology.Node).HidesReplicas)
}

// Stats is a snapshot of the client by kind, with the number of reconnects and of events that
// the observer missed. It locks one shard after the other.
func (c *Client) Stats() (all [kind.Labels]Counts, reconnects, dropped int64) {
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
	c.eachName(func(n *nameState) {
		for h := range n.livingHolds {
			to := &all[h.lock.Traits.Label]
			to.Holds++
			to.Least = min(to.Least, max(h.trust()-n.Now(), 0))
			to.Oldest.hold(n.Now(), h.since)
		}
		for w := range n.waiters {
			w := w.Call.(*Waiter)
			to := &all[w.l.Traits.Label]
			to.Waiters++
			to.Oldest.wait(n.Now(), w.began)
		}
	})
	return all, c.reconnects.Load(), c.events.Dropped()
}

// Ages yields the age of each name that is held or waited for, for each kind by which it is. No lock is held while it
// yields.
func (c *Client) Ages(yield func(name string, of kind.Label, age Age) bool) {
	type named struct {
		name string
		of   kind.Label
		age  Age
	}
	var found []named
	for i := range c.shards {
		found = found[:0]
		c.shards[i].eachName(func(n *nameState) {
			var all [kind.Labels]Age
			for h := range n.livingHolds {
				all[h.lock.Traits.Label].hold(n.Now(), h.since)
			}
			for w := range n.waiters {
				w := w.Call.(*Waiter)
				all[w.l.Traits.Label].wait(n.Now(), w.began)
			}
			for of, age := range all {
				if age != (Age{}) {
					found = append(found, named{n.lock.name, kind.Label(of), age})
				}
			}
		})
		for _, f := range found {
			if !yield(f.name, f.of, f.age) {
				return
			}
		}
	}
}

// totals are the numbers of one kind since the client began.
type totals struct {
	acquires [observe.Outcomes]atomic.Int64
	lost     [observe.Reasons]atomic.Int64
	unsure   atomic.Int64 // releases
	undone   atomic.Int64
	renewals atomic.Int64 // leases that were extended
}
