package locks

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// Client is what a client knows of its locks. All methods are safe for
// concurrent use.
type Client struct {
	table
	following sync.WaitGroup // the goroutine that follows the topology's changes

	closing atomic.Bool
	gone    chan struct{} // closed when Close has finished
}

// New makes the state of a client that has just begun. It does no I/O. Close or
// Shutdown must be called. Its error is the topology's.
func New(o Config) (*Client, error) {
	c := &Client{gone: make(chan struct{})}
	if err := c.init(o, c.sent); err != nil {
		return nil, err
	}
	openClients.Store(c.ID, c)
	c.following.Go(c.follow)
	return c, nil
}

// Started logs that the client has started.
func (c *Client) Started() { c.Log.Started(c.top.String(), c.Watchdog, c.Timeout, c.Replicas) }

// Shutdown ends the client in good order, as the public method says.
func (c *Client) Shutdown(ctx context.Context) error {
	c.startDraining()
	c.Log.Draining(c.liveHolds.Count())
	failAll(&c.table, true)
	patience, err := c.drain(ctx)
	c.close(patience)
	return err
}

// drain waits until nothing is held or being released any more. It returns what
// is left of a command timeout for undos and grants that are given back.
func (c *Client) drain(ctx context.Context) (patience time.Duration, err error) {
	for {
		if !c.liveHolds.Wait(ctx.Done(), c.gone) || !c.releases.Wait(ctx.Done(), c.gone) {
			return c.Timeout, ctx.Err()
		}
		began := time.Now()
		undone, cancel := context.WithTimeout(ctx, c.Timeout)
		ended := c.work.Wait(undone.Done(), c.gone)
		cancel()
		patience = max(c.Timeout-time.Since(began), time.Millisecond)
		// An attempt under way may have become a hold.
		if !ended || c.Closed() || c.liveHolds.Count() == 0 && c.releases.Count() == 0 {
			if !ended {
				err = ctx.Err()
			}
			return patience, err
		}
	}
}

// Close ends the client at once, as the public method says.
func (c *Client) Close() { c.close(c.Timeout) }

// Abandon closes a client that could not be used at all. Nothing is logged.
func (c *Client) Abandon() { c.close(0) }

// close waits on a channel for an end that another call began: waiting on a sync.Once would stop the clock of a
// testing/synctest bubble.
func (c *Client) close(patience time.Duration) {
	if c.closing.Swap(true) {
		<-c.gone
		return
	}
	c.end(patience)
}

func (c *Client) end(patience time.Duration) {
	c.shut()
	failAll(&c.table, false)
	holds := c.liveHolds.Count()
	c.endHolds()
	c.renewer.Close()
	for _, n := range c.top.Nodes() {
		go n.Hub.Close() // nobody waits any more; the topology's Close waits for it too
	}
	c.timers.RunAll()
	deadline := c.waits.awaitLeavers(patience)
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	c.work.Wait(ctx.Done(), nil)
	c.releases.Wait(ctx.Done(), nil)
	c.waits.leaving.Wait(ctx.Done(), nil) // waiters whose acquires were undone meanwhile
	open := c.waits.leaving.Count() + c.work.Count() + c.releases.Count()
	c.forgetChanges()
	c.top.Close(time.Until(deadline))
	c.following.Wait()
	c.timers.Wait()
	c.actors.Close()
	openClients.Delete(c.ID)
	c.events.Wait(c.Timeout)
	c.Log.End()
	if patience > 0 { // Open returns the error of an abandoned client
		c.Log.Closed(holds, open)
	}
	close(c.gone)
}

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
		to.Undone, to.Unsure, to.Renewals = from.undone.Load(), from.unsure.Load(), c.renewer.extendedOf(i)
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
			to := &all[w.lock.Traits.Label]
			to.Waiters++
			to.Oldest.wait(n.Now(), w.began)
		}
	})
	return all, c.Reconnects(), c.events.Dropped()
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
				all[w.lock.Traits.Label].wait(n.Now(), w.began)
			}
			for of, age := range all {
				if age != (Age{}) {
					found = append(found, named{n.lock.Name(), kind.Label(of), age})
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

// openClients are the states of this process that are not closed, by their ids.
var openClients sync.Map

// TakenAway ends the holds that this process's clients have of a name on one server. It is for tests with a
// server that takes a lock away and tells nobody.
func TakenAway(server, from string) {
	openClients.Range(func(_, client any) bool {
		if c := client.(*Client); c.top.String() == server {
			c.eachName(func(n *nameState) {
				for _, st := range n.ownerStates() {
					if n.lock.Name() == from {
						st.lose(nil, errForced)
					}
				}
			})
		}
		return true
	})
}

// UnderWay tells how many timers are set or running, and how many commands that change
// something are under way, without those of Unlock and UnlockAs.
func (c *Client) UnderWay() (timers, commands int) {
	return c.timers.Live(), int(c.work.Count() + c.waits.leaving.Count())
}
