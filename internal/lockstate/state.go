package lockstate

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/acquire"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/state"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// State is what a client knows of its locks. All methods are safe for
// concurrent use.
type State struct {
	state.Client
	following sync.WaitGroup // the goroutine that follows the topology's changes

	closing atomic.Bool
	gone    chan struct{} // closed when Close has finished
}

// New makes the state of a client that has just begun. It does no I/O. Close or
// Shutdown must be called. Its error is the topology's.
func New(o state.Config) (*State, error) {
	c := &State{gone: make(chan struct{})}
	if err := c.Init(o, c.sent); err != nil {
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
	c.Log.Draining(c.LiveHolds.Count())
	acquire.FailAll(&c.Client, true)
	patience, err := c.drain(ctx)
	c.close(patience)
	return err
}

// drain waits until nothing is held or being released any more. It returns what
// is left of a command timeout for undos and grants that are given back.
func (c *State) drain(ctx context.Context) (patience time.Duration, err error) {
	for {
		if !c.LiveHolds.Wait(ctx.Done(), c.gone) || !c.Releases.Wait(ctx.Done(), c.gone) {
			return c.Timeout, ctx.Err()
		}
		began := time.Now()
		undone, cancel := context.WithTimeout(ctx, c.Timeout)
		ended := c.Work.Wait(undone.Done(), c.gone)
		cancel()
		patience = max(c.Timeout-time.Since(began), time.Millisecond)
		// An attempt under way may have become a hold.
		if !ended || c.Closed() || c.LiveHolds.Count() == 0 && c.Releases.Count() == 0 {
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

// close waits on a channel for an end that another call began: waiting on a sync.Once would stop the clock of a
// testing/synctest bubble.
func (c *State) close(patience time.Duration) {
	if c.closing.Swap(true) {
		<-c.gone
		return
	}
	c.end(patience)
}

func (c *State) end(patience time.Duration) {
	c.Shut()
	acquire.FailAll(&c.Client, false)
	holds := c.LiveHolds.Count()
	c.EndHolds()
	c.Renewer.Close()
	for _, n := range c.Top.Nodes() {
		go n.Hub.Close() // nobody waits any more; the topology's Close waits for it too
	}
	c.Timers.RunAll()
	deadline := c.Waits.AwaitLeavers(patience)
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	c.Work.Wait(ctx.Done(), nil)
	c.Releases.Wait(ctx.Done(), nil)
	c.Waits.Leaving.Wait(ctx.Done(), nil) // waiters whose acquires were undone meanwhile
	open := c.Waits.Leaving.Count() + c.Work.Count() + c.Releases.Count()
	c.ForgetChanges()
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
	Oldest         Age
}

// Age is how long the oldest hold and the oldest wait have lasted; 0: there is none.
type Age struct{ Hold, Wait time.Duration }

// hold and wait count one that began at since.
func (a *Age) hold(now, since time.Duration) { a.Hold = max(a.Hold, now-since) }
func (a *Age) wait(now, since time.Duration) { a.Wait = max(a.Wait, now-since) }

// HidesReplicas tells whether a server refuses to list its replicas.
func (c *State) HidesReplicas() bool {
	return slices.ContainsFunc(c.Top.Nodes(), (*topology.Node).HidesReplicas)
}

// Stats is a snapshot of the client by kind, with the number of reconnects and of events that
// the observer missed. It locks one shard after the other.
func (c *State) Stats() (all [kind.Labels]Counts, reconnects, dropped int64) {
	for i := range all {
		to, from := &all[i], &c.Counts[i]
		to.Least = watchdog.Never
		for j := range to.Acquires {
			to.Acquires[j] = from.Acquires[j].Load()
		}
		for j := range to.Lost {
			to.Lost[j] = from.Lost[j].Load()
		}
		to.Undone, to.Unsure, to.Renewals = from.Undone.Load(), from.Unsure.Load(), c.Renewer.Extended(i)
	}
	c.EachName(func(n *state.Name) {
		for h := range n.LivingHolds {
			to := &all[h.Lock.Traits.Label]
			to.Holds++
			to.Least = min(to.Least, max(h.Trust()-n.Now(), 0))
			to.Oldest.hold(n.Now(), h.Since)
		}
		for w := range n.Waiters {
			w := w.Call.(*acquire.Waiter)
			to := &all[w.Lock.Traits.Label]
			to.Waiters++
			to.Oldest.wait(n.Now(), w.Began)
		}
	})
	return all, c.Reconnects(), c.Events.Dropped()
}

// Ages yields the age of each name that is held or waited for, for each kind by which it is. No lock is held while it
// yields.
func (c *State) Ages(yield func(name string, of kind.Label, age Age) bool) {
	type named struct {
		name string
		of   kind.Label
		age  Age
	}
	var found []named
	for i := range c.Shards {
		found = found[:0]
		c.Shards[i].EachName(func(n *state.Name) {
			var all [kind.Labels]Age
			for h := range n.LivingHolds {
				all[h.Lock.Traits.Label].hold(n.Now(), h.Since)
			}
			for w := range n.Waiters {
				w := w.Call.(*acquire.Waiter)
				all[w.Lock.Traits.Label].wait(n.Now(), w.Began)
			}
			for of, age := range all {
				if age != (Age{}) {
					found = append(found, named{n.Lock.Name(), kind.Label(of), age})
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

// clients are the states of this process that are not closed, by their ids.
var clients sync.Map

// TakenAway ends the holds that this process's clients have of a name on one server. It is for tests with a
// server that takes a lock away and tells nobody.
func TakenAway(server, from string) {
	clients.Range(func(_, client any) bool {
		if c := client.(*State); c.Top.String() == server {
			c.EachName(func(n *state.Name) {
				for _, st := range n.OwnerStates() {
					if n.Lock.Name() == from {
						st.Lose(nil, state.ErrForced)
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
	return c.Timers.Live(), int(c.Work.Count() + c.Waits.Leaving.Count())
}
