package lockstate

import (
	"context"
	"sync"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/watchdog"
)

// State is what a client knows of its locks. All methods are safe for
// concurrent use.
type State struct {
	client
	following sync.WaitGroup // the goroutine that follows the topology's changes

	closing sync.Once
	gone    chan struct{} // closed when Close has finished
}

// New makes the state of a client that has just begun. It does no I/O. Close or
// Shutdown must be called. Its error is the topology's.
func New(o Config) (*State, error) {
	c := &State{gone: make(chan struct{})}
	if err := c.init(o, c.sent); err != nil {
		return nil, err
	}
	clients.Store(c.ID, c)
	c.following.Go(c.follow)
	return c, nil
}

// Started logs that the client has started.
func (c *State) Started() { c.Log.Started(c.Top.String(), c.Watchdog, c.Timeout, c.Replicas) }

// Shutdown ends the client in good order, as the public method says.
func (c *State) Shutdown(ctx context.Context) error {
	c.Drain()
	c.Log.Draining(c.liveHolds.Count())
	c.failWaiters(true)
	patience, err := c.drain(ctx)
	c.close(patience)
	return err
}

// drain waits until nothing is held or being released any more. It returns what
// is left of a command timeout for undos and grants that are given back.
func (c *State) drain(ctx context.Context) (patience time.Duration, err error) {
	for {
		if !c.liveHolds.Wait(ctx.Done(), c.gone) || !c.releases.Wait(ctx.Done(), c.gone) {
			return c.Timeout, ctx.Err()
		}
		began := time.Now()
		undone, cancel := context.WithTimeout(ctx, c.Timeout)
		ended := c.Work.Wait(undone.Done(), c.gone)
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
func (c *State) Close() { c.close(c.Timeout) }

// Abandon closes a client that could not be used at all. Nothing is logged.
func (c *State) Abandon() { c.close(0) }

func (c *State) close(patience time.Duration) { c.closing.Do(func() { c.end(patience) }) }

func (c *State) end(patience time.Duration) {
	c.Shut()
	c.failWaiters(false)
	holds := c.liveHolds.Count()
	c.endHolds()
	c.watchdog.Close()
	for _, n := range c.Top.Nodes() {
		go n.Hub.Close() // nobody waits any more; the topology's Close waits for it too
	}
	c.Timers.RunAll()
	deadline := c.waits.AwaitLeavers(patience)
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	c.Work.Wait(ctx.Done(), nil)
	c.releases.Wait(ctx.Done(), nil)
	c.waits.Leaving.Wait(ctx.Done(), nil) // waiters whose acquires were undone meanwhile
	open := c.waits.Leaving.Count() + c.Work.Count() + c.releases.Count()
	c.Top.Close(time.Until(deadline))
	c.following.Wait()
	c.Timers.Wait()
	c.Actors.Close()
	clients.Delete(c.ID)
	c.Events.Wait(c.Timeout)
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
}

// Stats is a snapshot of the client by kind, with the number of reconnects and of events that
// the observer missed. It locks one shard after the other.
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
		to.Undone, to.Unsure, to.Renewals = from.undone.Load(), from.unsure.Load(), c.watchdog.Extended(i)
	}
	c.eachName(func(n *name) {
		for h := range n.livingHolds {
			to := &all[h.l.Traits.Label]
			to.Holds++
			to.Least = min(to.Least, max(h.trust()-n.now(), 0))
		}
		for w := range n.Waiters {
			all[w.Call.(*Waiter).Lock.Traits.Label].Waiters++
		}
	})
	return all, c.Reconnects(), c.Events.Dropped()
}

// clients are the states of this process that are not closed, by their ids.
var clients sync.Map

// TakenAway ends the holds that this process's clients have of a name on one server. It is for tests with a
// server that takes a lock away and tells nobody.
func TakenAway(server, from string) {
	clients.Range(func(_, client any) bool {
		if c := client.(*State); c.Top.String() == server {
			c.eachName(func(n *name) {
				for _, st := range n.ownerStates() {
					if n.l.Name() == from {
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
func (c *State) UnderWay() (timers, commands int) {
	return c.Timers.Live(), int(c.Work.Count() + c.waits.Leaving.Count())
}
