package locks

import (
	"context"
	"log/slog"
	"strings"
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

// Settings is what a client is made of. Its values have been checked.
type Settings struct {
	Watchdog time.Duration    // the lease of a hold that is acquired without one
	Timeout  time.Duration    // of a command
	Replicas bool             // commands that change a lock are followed by WAIT
	Courtesy bool             // leave room for slower clients
	Clock    clock.Clock      // the clock that measures trust
	Logger   *slog.Logger     // nil: silent
	Margin   time.Duration    // how long before its end the contexts of a hold end
	LongHold time.Duration    // an older hold is logged; 0: none is
	Observer observe.Observer // learns what happens; nil: there is none
	Older    kind.Older       // how names are made from a name and its key

	// Topology makes the topology that serves the locks, without I/O. It gets Servers, completed from this
	// Config.
	Servers  topology.Settings
	Topology func(topology.Settings) (topology.Topology, error)
}

// core is what the operations of one client share. All methods are safe for concurrent use.
type core struct {
	Settings
	ID         uuid.UUID                                 // the first half of every owner that it makes
	args       struct{ Lease, LatchTTL, ReceiptTTL any } // of the watchdog, of latches and of receipts, in ms, boxed once
	latchTTL   time.Duration                             // how long the server remembers an unlock at least
	unlockFor  time.Duration                             // for how long an unlock is repeated: its latch outlives every send by a command timeout (R1)
	changeFor  time.Duration                             // for how long a due change is repeated: half as long as its receipt lives
	top        topology.Topology
	spansSlots bool              // Top.SpansSlots(), cached
	failsOver  bool              // Top.FailsOver(), cached
	exec       *command.Executor // of all commands
	Log        *eventlog.Log     // nil: silent
	actors     actors            // who may act as its owners
	timers     clock.Timers
	work       clock.Gauge // commands under way that change something, except those that their callers count
	events     observe.Queue

	// onTouched is called after a command without an owner that may have written the keys of a lock's
	// holds; nil: nobody wants to know.
	onTouched func(*ObjectLock)

	// Ending is over when the client is being shut down or is closed.
	Ending context.Context
	end    context.CancelFunc

	phase      atomic.Int32
	reconnects atomic.Int64
}

const (
	phaseOpen int32 = iota
	phaseDraining
	phaseClosed
)

// init makes the zero Client ready, without I/O. Its error is the topology's. sent, if it is not nil, is
// called with each command that has ended.
func (c *core) init(o Settings, sent func(*command.Request)) (err error) {
	c.Settings, c.ID, c.work = o, uuid.New(), clock.NewGauge()
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
	servers.Reconnected = c.reconnected
	servers.ConnectionName = strings.ReplaceAll(servers.ConnectionName, "{id}", c.ID.String())
	if c.top, err = o.Topology(servers); err != nil {
		return err
	}
	c.spansSlots, c.failsOver = c.top.SpansSlots(), c.top.FailsOver()
	if c.args.LatchTTL = c.args.ReceiptTTL; c.failsOver {
		c.args.LatchTTL = c.latchTTL.Milliseconds() // shorter, since many latches stay, to be used after a failover
	}
	c.exec = command.New(c.top, command.Options{
		Timeout: o.Timeout, Ended: sent, Now: c.Now, Closing: c.Closed,
		After: func(d time.Duration, fn func()) { c.timers.After(d, fn) }, Go: c.spawn,
	})
	c.actors.init(c.ID)
	return nil
}

// Open tells whether the client is neither closed nor being shut down.
func (c *core) Open() bool { return c.phase.Load() == phaseOpen }

// Closed tells whether the client is closed, or about to be.
func (c *core) Closed() bool { return c.phase.Load() == phaseClosed }

// startDraining says that the client is being shut down.
func (c *core) startDraining() {
	c.phase.CompareAndSwap(phaseOpen, phaseDraining)
	c.end()
}

// shut says that the client is closed, or about to be.
func (c *core) shut() {
	c.phase.Store(phaseClosed)
	c.end()
}

// Now is the clock's reading. Code in a section asks the section instead.
func (c *core) Now() time.Duration { return c.Clock.Now() }

// spawn calls fn on another goroutine, which the client's end waits for.
func (c *core) spawn(fn func()) { c.timers.After(0, fn) }

// sleep waits for d, or until the client is closed.
func (c *core) sleep(d time.Duration) {
	over := make(chan struct{})
	c.timers.After(d, func() { close(over) })
	<-over
}

// leaseArg is a lease as the argument of a command.
func (c *core) leaseArg(d time.Duration) any {
	if d == c.Watchdog {
		return c.args.Lease
	}
	return d.Milliseconds()
}

// lateFor is how long a lost command may still run if its connection could not be killed: it is taken to be
// one watchdog timeout, and at least latchTTL.
func (c *core) lateFor() time.Duration { return max(c.Watchdog, c.latchTTL) }

// fill makes r a request for a kind's call.
func (c *core) fill(r *command.Request, slot uint16, call kind.Call) {
	r.Wait, r.Slot = call.Writes && c.Replicas, slot
	r.Fill(call)
}

// post tells the observer, if there is one, on the queue's goroutine.
func (c *core) post(tell func(observe.Observer)) {
	if o := c.Observer; o != nil {
		c.events.Add(func() { tell(o) })
	}
}

// reconnected counts a connection that replaced another, and tells the observer.
func (c *core) reconnected(server string, down time.Duration) {
	c.reconnects.Add(1)
	e := observe.Server{To: server, Down: down}
	c.post(func(o observe.Observer) { o.Reconnected(e) })
}

// Reconnects is how often a connection replaced another.
func (c *core) Reconnects() int64 { return c.reconnects.Load() }
