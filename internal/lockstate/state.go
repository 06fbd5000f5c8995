package lockstate

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/background"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/renew"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/waiting"
	"github.com/rlock-go/redisson/watchdog"
)

// Config is what a State is made of.
type Config struct {
	core.Config

	// NewOwner makes an owner's state together with its first hold, in one
	// allocation. NewHold makes a further hold. Each hold has its Face.
	NewOwner func() (*OwnerState, *Hold)
	NewHold  func() *Hold
}

// State is what a client knows of its locks. All methods are safe for
// concurrent use.
type State struct {
	core.Client
	newOwner      func() (*OwnerState, *Hold) // Config.NewOwner
	newHold       func() *Hold                // Config.NewHold
	watchdog      *renew.Renewer
	shards        [shardCount]shard
	pastShared    atomic.Int64 // how many past unlocks its shards have beyond ownPast, in all
	masters       atomic.Pointer[[]masterChange]
	spares        spares
	counts        [kind.Labels]counts
	tellsCalls    bool // the observer is told when calls begin, and when unlocks end
	keepsCommands bool // the observer is told of commands

	liveHolds background.Gauge // holds that have not ended
	releases  background.Gauge // calls of Unlock and UnlockAs
	waits     waiting.Client   // what the waiters of all names share

	following sync.WaitGroup // the goroutine that follows the topology's changes

	closing sync.Once
	gone    chan struct{} // closed when Close has finished
}

var shardSeed = maphash.MakeSeed()

func (c *State) shard(key string) *shard {
	return &c.shards[maphash.String(shardSeed, key)%shardCount]
}

func (c *State) eachName(fn func(*name)) {
	for i := range c.shards {
		s := &c.shards[i]
		sec := s.Enter(section.MustNotBlock)
		for _, n := range s.names {
			fn(n) // which may drop it
		}
		sec.Leave()
	}
}

// New makes the state of a client that has just begun. It does no I/O. Close or
// Shutdown must be called. Its error is the topology's.
func New(o Config) (*State, error) {
	c := &State{
		newOwner:  o.NewOwner,
		newHold:   o.NewHold,
		liveHolds: background.NewGauge(),
		releases:  background.NewGauge(),
		gone:      make(chan struct{}),
		spares:    newSpares(),
	}
	var sent func(*command.Request)
	if o.Observer != nil {
		c.tellsCalls = o.Observer.Calls()
		if c.keepsCommands = o.Observer.Commands(); c.keepsCommands {
			sent = c.sent
		}
	}
	if err := c.Init(o.Config, sent); err != nil {
		return nil, err
	}
	if o.Observer != nil {
		o.Observer.OnPanic(c.Log.ObserverPanicked)
	}
	c.waits.Init(&c.Client)
	for i := range c.shards {
		c.shards[i].init(c)
	}
	c.watchdog = renew.New(&c.Client, c.idle, c.keyChanged)
	clients.Store(c.ID, c)
	c.following.Go(c.follow)
	return c, nil
}

// Started logs that the client has started.
func (c *State) Started() { c.Log.Started(c.Top.String(), c.Watchdog, c.Timeout, c.Replicas) }

// spares are one client's objects for reuse. Without them the garbage collector runs three
// times as often, and each run shrinks the stacks of waiting goroutines, which then grow again
// with their next command.
//
// The last user of an object puts it back, cleared and once, if it is certain that nobody else
// refers to it. Otherwise the garbage collector frees it. These are put back:
//   - an attempt at the end of its Answered, unless a timer was made for it;
//   - a release at the end of its Answered, if it was sent once and answered, and no timer
//     was made for it;
//   - a waiter whose first attempt was granted, by the later of that attempt and its caller,
//     together with its observe.Call;
//   - an unlock's observe.Call, by the later of the release, if that is put back, and its
//     caller;
//   - an outcome by the caller that has received from it.
//
// Each client has its own spares: a channel that was made in the bubble of a synctest must not
// be used outside of it.
type spares struct{ attempts, releases, outcomes, waiters, calls sync.Pool }

func newSpares() spares {
	return spares{
		attempts: sync.Pool{New: func() any { return new(attempt) }},
		releases: sync.Pool{New: func() any { return new(releasing) }},
		outcomes: sync.Pool{New: func() any { return make(chan error, 1) }},
		calls:    sync.Pool{New: func() any { return new(observe.Call) }},
		waiters: sync.Pool{New: func() any {
			w := &Waiter{ready: make(chan struct{}, 1)}
			w.Call = w
			return w
		}},
	}
}

// Shutdown ends the client in good order, as the public method says.
func (c *State) Shutdown(ctx context.Context) error {
	c.Drain()
	c.Log.Draining(c.liveHolds.Count())
	c.failWaiters(func(w *Waiter) bool {
		return w.Terms.As && w.n.holds(w.Terms.Owner)
	})
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
	c.failWaiters(func(*Waiter) bool { return false })
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

// failWaiters fails all waiters but those that keep picks.
func (c *State) failWaiters(keep func(*Waiter) bool) {
	c.eachName(func(n *name) {
		for q := range n.EachQueue {
			if c.Closed() {
				q.Close()
			}
			for waits := range q.All() {
				if w := waits.Call.(*Waiter); !keep(w) {
					w.fail(lockerr.ErrClosed)
				}
			}
		}
		n.Step()
	})
}

// endHolds ends every hold.
func (c *State) endHolds() {
	c.eachName(func(n *name) {
		for _, st := range n.ownerStates() {
			st.check() // holds that have expired are lost, not closed
			st.end(nil, lockerr.ErrClosed)
			st.forget()
			st.dropIfIdle()
		}
	})
}

// counts are the totals of one kind since the client began.
type counts struct {
	acquires [observe.Outcomes]atomic.Int64
	lost     [observe.Reasons]atomic.Int64
	unsure   atomic.Int64 // releases
	undone   atomic.Int64
}

func (l *Lock) counts() *counts { return &l.c.counts[l.Traits.Label] }

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
		for st := n.states; st != nil; st = st.next {
			for h := st.holds; h != nil; h = h.next {
				to := &all[h.l.Traits.Label]
				to.Holds++
				to.Least = min(to.Least, max(h.trust()-n.now(), 0))
			}
		}
		for w := range n.Waiters {
			all[w.Call.(*Waiter).l.Traits.Label].Waiters++
		}
	})
	return all, c.Reconnects(), c.Events.Dropped()
}
