package lockstate

import (
	"context"
	"hash/maphash"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/internal/background"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// Config is what a State is made of. All of it is checked already.
type Config struct {
	Watchdog time.Duration    // the lease of what is acquired without one
	Timeout  time.Duration    // of a command
	Replicas bool             // what changes a lock is followed by WAIT
	Courtesy bool             // leave room for slower clients
	Clock    clock.Clock      // that trust is counted by
	Logger   *slog.Logger     // nil: silent
	LongHold time.Duration    // an older hold is logged; 0: none is
	Observer observe.Observer // is told what happens; nil: nobody is

	// Topology makes what serves the locks, without I/O. It gets Servers, with what
	// is also this Config's.
	Servers  topology.Settings
	Topology func(topology.Settings) (topology.Topology, error)

	// NewOwner makes an owner's state together with its first hold, in one
	// allocation. NewHold makes a further hold. Each hold has its Face.
	NewOwner func() (*OwnerState, *Hold)
	NewHold  func() *Hold
}

// State is what a client knows of its locks. All methods are safe for
// concurrent use.
type State struct {
	id             uuid.UUID
	args           struct{ lease, latchTTL, receiptTTL any } // of the watchdog, of latches and of receipts, in ms, boxed once
	latchTTL       time.Duration                             // how long the server remembers an unlock at least
	unlockFor      time.Duration                             // how long an unlock is sent: its latch outlives every send by a command timeout (R1)
	changeFor      time.Duration                             // how long a change is sent that is due: half as long as its receipt lives
	o              Config
	top            topology.Topology
	spansSlots     bool              // top.SpansSlots(), cached
	failsOver      bool              // top.FailsOver(), cached
	exec           *command.Executor // of all commands
	watchdog       *watchdog.Watchdog
	log            *eventlog.Log // nil: silent
	shards         [shardCount]shard
	actors         owner.Actors // who may act as its owners
	pastShared     atomic.Int64 // how many past unlocks its shards have beyond ownPast, in all
	masters        atomic.Pointer[[]masterChange]
	untold         atomic.Bool // it was logged that a server does not tell of changes
	noClientCounts atomic.Bool // the server refuses to count subscribers
	timers         background.Timers
	spares         spares
	counts         [kind.Labels]counts
	reconnects     atomic.Int64
	unheard        atomic.Int64 // queues that have asked for their channel and do not listen
	events         observe.Queue
	tellsCalls     bool // to an observer: that they begin, and of unlocks that they end
	keepsCommands  bool // for an observer that is told of them

	liveHolds background.Gauge // holds
	releases  background.Gauge // calls of Unlock and UnlockAs
	leaving   background.Gauge // waiters that leave a server's queue
	work      background.Gauge // other commands that change something, their undos included

	following sync.WaitGroup // the goroutine that follows the topology's changes

	state   atomic.Int32
	closing sync.Once
	gone    chan struct{} // closed when Close has finished
}

const (
	stateOpen int32 = iota
	stateDraining
	stateClosed
)

// now is the clock's reading. What happens in a section asks the section.
func (c *State) now() time.Duration { return c.o.Clock.Now() }

// Closed tells whether the client is closed, or about to be.
func (c *State) Closed() bool { return c.state.Load() == stateClosed }

var shardSeed = maphash.MakeSeed()

func (c *State) shard(key string) *shard {
	return &c.shards[maphash.String(shardSeed, key)%shardCount]
}

func (c *State) eachName(fn func(*name)) {
	for i := range c.shards {
		s := &c.shards[i]
		sec := s.enter(mustNotBlock)
		for _, n := range s.names {
			fn(n) // which may drop it
		}
		sec.leave()
	}
}

// start calls fn on another goroutine. Close waits for it.
func (c *State) start(fn func()) { c.timers.After(0, fn) }

// sleep waits for d, or until the client is closed.
func (c *State) sleep(d time.Duration) {
	over := make(chan struct{})
	c.timers.After(d, func() { close(over) })
	<-over
}

// leaseArg is a lease as the argument of a command.
func (c *State) leaseArg(d time.Duration) any {
	if d == c.o.Watchdog {
		return c.args.lease
	}
	return d.Milliseconds()
}

// New makes the state of a client that has just begun. It does no I/O. Close or
// Shutdown must be called. Its error is the topology's.
func New(o Config) (*State, error) {
	c := &State{
		id:        uuid.New(),
		o:         o,
		liveHolds: background.NewGauge(),
		releases:  background.NewGauge(),
		leaving:   background.NewGauge(),
		work:      background.NewGauge(),
		gone:      make(chan struct{}),
		spares:    newSpares(),
	}
	c.log = eventlog.New(o.Logger, c.id.String())
	var sent func(*command.Request)
	if o.Observer != nil {
		o.Observer.OnPanic(c.log.ObserverPanicked)
		c.tellsCalls = o.Observer.Calls()
		if c.keepsCommands = o.Observer.Commands(); c.keepsCommands {
			sent = c.sent
		}
	}
	c.args.lease = o.Watchdog.Milliseconds()
	c.latchTTL = 5*o.Timeout + time.Second
	c.unlockFor = c.latchTTL - o.Timeout
	c.changeFor = max(kind.ReceiptTTL/2, c.latchTTL)
	c.args.receiptTTL = 2 * c.changeFor.Milliseconds()
	c.timers.Init()
	var err error
	servers := o.Servers
	servers.Timeout, servers.Lease, servers.Clock, servers.Replicas, servers.Log = o.Timeout, o.Watchdog, o.Clock, o.Replicas, c.log
	servers.Reconnected = c.reconnected
	servers.ConnectionName = strings.ReplaceAll(servers.ConnectionName, "{id}", c.id.String())
	c.top, err = o.Topology(servers)
	if err != nil {
		return nil, err
	}
	c.spansSlots, c.failsOver = c.top.SpansSlots(), c.top.FailsOver()
	if c.args.latchTTL = c.args.receiptTTL; c.failsOver {
		c.args.latchTTL = c.latchTTL.Milliseconds() // many stay, to be sent again after a failover
	}
	c.exec = command.New(c.top, command.Options{
		Timeout: o.Timeout, Ended: sent, Now: c.now, Closing: c.Closed,
		After: func(d time.Duration, fn func()) { c.timers.After(d, fn) }, Go: c.start,
	})
	for i := range c.shards {
		c.shards[i].init(o.Clock, c.exec)
	}
	c.watchdog = watchdog.New(c.renew, watchdog.Options{TTL: o.Watchdog, Clock: o.Clock, Group: renewGroup(c.top), Look: c.look, Idle: c.idle})
	c.actors.Init(c.id)
	clients.Store(c.id, c)
	c.following.Go(c.follow)
	return c, nil
}

// Started logs that the client works.
func (c *State) Started() { c.log.Started(c.top.String(), c.o.Watchdog, c.o.Timeout, c.o.Replicas) }

// spares are the objects of one client for their next use: otherwise the garbage
// collector runs three times as often, and each run shrinks the stacks of waiting
// goroutines, which then grow again with their next command.
//
// The last user of an object puts it back, cleared and once, where it is certain
// that nobody else refers to it. In all other cases nobody does, and the garbage
// collector frees it. Put back is
//   - an attempt at the end of its Answered, unless a timer was made for it;
//   - a release at the end of its Answered, if it was sent once and answered, and no timer
//     was made for it;
//   - a waiter whose first attempt was granted, by the later of that attempt and
//     its caller, and with it what it has seen;
//   - what an unlock has seen, by the later of the release, where that is put back, and
//     its caller;
//   - an outcome by the caller that has received from it.
//
// Each client has its own, since an object with a channel that was made in the
// bubble of a synctest must not be used outside of it.
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
	c.state.CompareAndSwap(stateOpen, stateDraining)
	c.log.Draining(c.liveHolds.Count())
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
			return c.o.Timeout, ctx.Err()
		}
		began := time.Now()
		undone, cancel := context.WithTimeout(ctx, c.o.Timeout)
		ended := c.work.Wait(undone.Done(), c.gone)
		cancel()
		patience = max(c.o.Timeout-time.Since(began), time.Millisecond)
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
func (c *State) Close() { c.close(c.o.Timeout) }

// Abandon closes a client that could not be used at all. Nothing is logged.
func (c *State) Abandon() { c.close(0) }

func (c *State) close(patience time.Duration) { c.closing.Do(func() { c.end(patience) }) }

func (c *State) end(patience time.Duration) {
	c.state.Store(stateClosed)
	c.failWaiters(func(*Waiter) bool { return false })
	holds := c.liveHolds.Count()
	c.endHolds()
	c.watchdog.Close()
	for _, n := range c.top.Nodes() {
		go n.Hub.Close() // nobody waits any more; the topology's Close waits for it too
	}
	c.timers.RunAll()
	deadline := c.awaitLeavers(patience)
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	c.work.Wait(ctx.Done(), nil)
	c.releases.Wait(ctx.Done(), nil)
	c.leaving.Wait(ctx.Done(), nil) // whose acquires were undone meanwhile
	open := c.leaving.Count() + c.work.Count() + c.releases.Count()
	c.top.Close(time.Until(deadline))
	c.following.Wait()
	c.timers.Wait()
	c.actors.Close()
	clients.Delete(c.id)
	c.events.Wait(c.o.Timeout)
	c.log.End()
	if patience > 0 { // an abandoned one is the business of Open's error
		c.log.Closed(holds, open)
	}
	close(c.gone)
}

// failWaiters fails all waiters but those that keep picks.
func (c *State) failWaiters(keep func(*Waiter) bool) {
	c.eachName(func(n *name) {
		for q := range n.eachQueue {
			if c.Closed() {
				q.Close()
			}
			for waits := range q.All() {
				if w := waits.Call.(*Waiter); !keep(w) {
					w.fail(lockerr.ErrClosed)
				}
			}
		}
		n.step()
	})
}

// endHolds ends every hold.
func (c *State) endHolds() {
	c.eachName(func(n *name) {
		for _, st := range n.ownerStates() {
			st.check() // a loss by time stays one
			st.end(nil, lockerr.ErrClosed)
			st.forget()
			st.dropIfIdle()
		}
	})
}

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
