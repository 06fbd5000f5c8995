package locks

import (
	"context"
	"hash/maphash"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/topology"
)

// Config is what a [Client] is made of. Its values have been checked.
type Config struct {
	Watchdog time.Duration    // the lease of a hold that is acquired without one
	Timeout  time.Duration    // of a command
	Replicas bool             // commands that change a lock are followed by WAIT
	Courtesy bool             // leave room for slower clients
	Clock    clock.Clock      // the clock that measures trust; code in a section asks the section
	Logger   *slog.Logger     // nil: silent
	Margin   time.Duration    // how long before its end the contexts of a hold end
	LongHold time.Duration    // an older hold is logged; 0: none is
	Observer observe.Observer // learns what happens; nil: there is none
	Older    kind.Older       // how names are made from a name and its key

	// Topology makes the topology that serves the locks, without I/O. It gets Servers, completed from this
	// Config.
	Servers  topology.Settings
	Topology func(topology.Settings) (topology.Topology, error)

	// NewState makes an owner's state together with its first hold, in one
	// allocation. NewHold makes a further hold. Each hold has its Face.
	NewState func() (*OwnerState, *Hold)
	NewHold  func() *Hold
}

// Client is what a client knows of its locks. All methods are safe for
// concurrent use.
type Client struct {
	Config
	ID         uuid.UUID                                 // the first half of every owner that it makes
	args       struct{ Lease, LatchTTL, ReceiptTTL any } // of the watchdog, of latches and of receipts, in ms, boxed once
	latchTTL   time.Duration                             // how long the server remembers an unlock at least
	unlockFor  time.Duration                             // for how long an unlock is repeated: its latch outlives every send by a command timeout (R1)
	changeFor  time.Duration                             // for how long a due change is repeated: half as long as its receipt lives
	top        topology.Topology
	spansSlots bool              // top.SpansSlots(), cached
	failsOver  bool              // top.FailsOver(), cached
	exec       *command.Executor // of all commands
	Log        *eventlog.Log     // nil: silent
	actors     actors            // who may act as its owners
	renewer    *renewer
	shards     [shardCount]shard
	pastShared atomic.Int64 // the room that its shards have taken of sharedPast
	masters    atomic.Pointer[[]masterChange]
	spares     spares

	lastLeft       atomic.Pointer[time.Time] // when a server last answered that some have left its queue
	unheard        atomic.Int64              // queues that have subscribed and are not listening yet
	noClientCounts atomic.Bool               // the server refuses to count subscribers

	counts        [kind.Labels]totals
	reconnects    atomic.Int64 // connections that replaced others
	events        observe.Queue
	tellsCalls    bool // the observer is told when calls begin, and when unlocks end
	keepsCommands bool // the observer is told of commands

	// What the client's end waits for.
	timers    clock.Timers
	work      clock.Gauge    // commands under way that change something, except those that their callers count
	liveHolds clock.Gauge    // holds that have not ended
	releases  clock.Gauge    // calls of Unlock and UnlockAs
	leaving   clock.Gauge    // waiters that leave a server's queue
	following sync.WaitGroup // the goroutine that follows the topology's changes

	// Ending is over when the client is being shut down or is closed.
	Ending  context.Context
	end     context.CancelFunc
	phase   atomic.Int32
	closing atomic.Bool
	gone    chan struct{} // closed when Close has finished
}

const (
	phaseOpen int32 = iota
	phaseDraining
	phaseClosed
)

// New makes the state of a client that has just begun. It does no I/O. Close or
// Shutdown must be called. Its error is the topology's.
func New(o Config) (*Client, error) {
	c := &Client{Config: o, ID: uuid.New(), work: clock.NewGauge(), liveHolds: clock.NewGauge(), releases: clock.NewGauge(), leaving: clock.NewGauge(), gone: make(chan struct{})}
	c.Ending, c.end = context.WithCancel(context.Background())
	c.Log = eventlog.New(o.Logger, c.ID.String())
	c.args.Lease = o.Watchdog.Milliseconds()
	c.latchTTL = 5*o.Timeout + time.Second
	c.unlockFor = c.latchTTL - o.Timeout
	c.changeFor = max(kind.ReceiptTTL/2, c.latchTTL)
	c.args.ReceiptTTL = 2 * c.changeFor.Milliseconds()
	c.timers.Init()
	servers := o.Servers
	servers.Timeout, servers.Lease, servers.Clock, servers.Replicas, servers.Log = o.Timeout, o.Watchdog, o.Clock, o.Replicas, c.Log
	servers.Reconnected = func(server string, down time.Duration) {
		if c.reconnects.Add(1); c.Observer != nil {
			c.post(observe.Event{Of: observe.Reconnected, To: server, Took: down})
		}
	}
	servers.ConnectionName = strings.ReplaceAll(servers.ConnectionName, "{id}", c.ID.String())
	var err error
	if c.top, err = o.Topology(servers); err != nil {
		return nil, err
	}
	c.spansSlots, c.failsOver = c.top.SpansSlots(), c.top.FailsOver()
	if c.args.LatchTTL = c.args.ReceiptTTL; c.failsOver {
		c.args.LatchTTL = c.latchTTL.Milliseconds() // shorter, since many latches stay, to be used after a failover
	}
	var sent func(*command.Request)
	if o.Observer != nil {
		o.Observer.OnPanic(c.Log.ObserverPanicked)
		if c.tellsCalls, c.keepsCommands = o.Observer.Calls(), o.Observer.Commands(); c.keepsCommands {
			sent = c.sent
		}
	}
	c.exec = command.New(c.top, command.Options{
		Timeout: o.Timeout, Ended: sent, Now: c.Clock.Now, Closing: c.Closed,
		After: func(d time.Duration, fn func()) { c.timers.After(d, fn) }, Go: c.Go,
	})
	c.actors.init(c.ID)
	for i := range c.shards {
		c.shards[i].init(c)
	}
	c.renewer = newRenewer(c)
	openClients.Store(c.ID, c)
	c.following.Go(func() {
		for changes := range c.top.Changes() { // until the topology is closed
			for _, change := range changes {
				c.changed(change)
			}
		}
	})
	return c, nil
}

var shardSeed = maphash.MakeSeed()

func (c *Client) shard(key string) *shard {
	return &c.shards[maphash.String(shardSeed, key)%shardCount]
}

// eachName calls fn for each name, in a section of its shard.
func (c *Client) eachName(fn func(*nameState)) {
	for i := range c.shards {
		c.shards[i].eachName(fn)
	}
}

// Closed tells whether the client is closed, or about to be.
func (c *Client) Closed() bool { return c.phase.Load() == phaseClosed }

// startDraining says that the client is being shut down.
func (c *Client) startDraining() {
	c.phase.CompareAndSwap(phaseOpen, phaseDraining)
	c.end()
}

// Started logs that the client has started.
func (c *Client) Started() { c.Log.Started(c.top.String(), c.Watchdog, c.Timeout, c.Replicas) }

// Shutdown ends the client in good order, as the public method says.
func (c *Client) Shutdown(ctx context.Context) error {
	c.startDraining()
	c.Log.Draining(c.liveHolds.Count())
	c.failAll(true)
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
	c.phase.Store(phaseClosed)
	c.end()
	c.failAll(false)
	holds := c.liveHolds.Count()
	c.endHolds()
	c.renewer.Close()
	for _, n := range c.top.Nodes() {
		go n.Hub.Close() // nobody waits any more; the topology's Close waits for it too
	}
	c.timers.RunAll()
	deadline := c.awaitLeavers(patience)
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	c.work.Wait(ctx.Done(), nil)
	c.releases.Wait(ctx.Done(), nil)
	c.leaving.Wait(ctx.Done(), nil) // waiters whose acquires were undone meanwhile
	open := c.leaving.Count() + c.work.Count() + c.releases.Count()
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

// endHolds ends every hold.
func (c *Client) endHolds() {
	c.eachName(func(n *nameState) {
		for _, st := range n.ownerStates() {
			st.check() // holds that have expired are lost, not closed
			st.end(nil, ErrClosed)
			st.forget()
			st.dropIfIdle()
		}
	})
}

// Go calls fn on another goroutine, which the client's end waits for.
func (c *Client) Go(fn func()) { c.timers.After(0, fn) }

// sleep waits for d, or until the client is closed.
func (c *Client) sleep(d time.Duration) {
	over := make(chan struct{})
	c.timers.After(d, func() { close(over) })
	<-over
}

// leaseArg is a lease as the argument of a command.
func (c *Client) leaseArg(d time.Duration) any {
	if d == c.Watchdog {
		return c.args.Lease
	}
	return d.Milliseconds()
}

// lateFor is how long a lost command may still run if its connection could not be killed: it is taken to be
// one watchdog timeout, and at least latchTTL.
func (c *Client) lateFor() time.Duration { return max(c.Watchdog, c.latchTTL) }

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

// spare takes an object out of a pool, or makes one.
func spare[T any](p *sync.Pool) *T {
	if x, ok := p.Get().(*T); ok {
		return x
	}
	return new(T)
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
					if n.lock.name == from {
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
	return c.timers.Live(), int(c.work.Count() + c.leaving.Count())
}
