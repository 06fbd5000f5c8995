// Package core has what a client's operations share: its configuration, topology, executor of commands,
// timers, log, observer, and who may act as its owners ([Client]); and the part of a lock that never changes
// ([Lock]). It does not know who holds or waits. Reads are made here ([Lock.Ask]), because they change
// nothing.
package core

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
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/topology"
)

// Config is what a client is made of. Its values have been checked.
type Config struct {
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

// Client is what the operations of one client share. All methods are safe for concurrent use.
type Client struct {
	Config
	ID         uuid.UUID                                 // the first half of every owner that it makes
	Args       struct{ Lease, LatchTTL, ReceiptTTL any } // of the watchdog, of latches and of receipts, in ms, boxed once
	LatchTTL   time.Duration                             // how long the server remembers an unlock at least
	UnlockFor  time.Duration                             // for how long an unlock is repeated: its latch outlives every send by a command timeout (R1)
	ChangeFor  time.Duration                             // for how long a due change is repeated: half as long as its receipt lives
	Top        topology.Topology
	SpansSlots bool              // Top.SpansSlots(), cached
	FailsOver  bool              // Top.FailsOver(), cached
	Exec       *command.Executor // of all commands
	Log        *eventlog.Log     // nil: silent
	Actors     owner.Actors      // who may act as its owners
	Timers     clock.Timers
	Work       clock.Gauge // commands under way that change something, except those that their callers count
	Events     observe.Queue

	// Touched is called after a command without an owner that may have written the keys of a lock's
	// holds; nil: nobody wants to know.
	Touched func(*Lock)

	// Ending is over when the client is being shut down or is closed.
	Ending context.Context
	end    context.CancelFunc

	phase      atomic.Int32
	reconnects atomic.Int64
}

const (
	open int32 = iota
	draining
	closed
)

// Init makes the zero Client ready, without I/O. Its error is the topology's. sent, if it is not nil, is
// called with each command that has ended.
func (c *Client) Init(o Config, sent func(*command.Request)) (err error) {
	c.Config, c.ID, c.Work = o, uuid.New(), clock.NewGauge()
	c.Ending, c.end = context.WithCancel(context.Background())
	c.Log = eventlog.New(o.Logger, c.ID.String())
	c.Args.Lease = o.Watchdog.Milliseconds()
	c.LatchTTL = 5*o.Timeout + time.Second
	c.UnlockFor = c.LatchTTL - o.Timeout
	c.ChangeFor = max(kind.ReceiptTTL/2, c.LatchTTL)
	c.Args.ReceiptTTL = 2 * c.ChangeFor.Milliseconds()
	c.Timers.Init()
	servers := o.Servers
	servers.Timeout, servers.Lease, servers.Clock, servers.Replicas, servers.Log = o.Timeout, o.Watchdog, o.Clock, o.Replicas, c.Log
	servers.Reconnected = c.reconnected
	servers.ConnectionName = strings.ReplaceAll(servers.ConnectionName, "{id}", c.ID.String())
	if c.Top, err = o.Topology(servers); err != nil {
		return err
	}
	c.SpansSlots, c.FailsOver = c.Top.SpansSlots(), c.Top.FailsOver()
	if c.Args.LatchTTL = c.Args.ReceiptTTL; c.FailsOver {
		c.Args.LatchTTL = c.LatchTTL.Milliseconds() // shorter, since many latches stay, to be used after a failover
	}
	c.Exec = command.New(c.Top, command.Options{
		Timeout: o.Timeout, Ended: sent, Now: c.Now, Closing: c.Closed,
		After: func(d time.Duration, fn func()) { c.Timers.After(d, fn) }, Go: c.Go,
	})
	c.Actors.Init(c.ID)
	return nil
}

// Open tells whether the client is neither closed nor being shut down.
func (c *Client) Open() bool { return c.phase.Load() == open }

// Closed tells whether the client is closed, or about to be.
func (c *Client) Closed() bool { return c.phase.Load() == closed }

// Drain says that the client is being shut down.
func (c *Client) Drain() {
	c.phase.CompareAndSwap(open, draining)
	c.end()
}

// Shut says that the client is closed, or about to be.
func (c *Client) Shut() {
	c.phase.Store(closed)
	c.end()
}

// Now is the clock's reading. Code in a section asks the section instead.
func (c *Client) Now() time.Duration { return c.Clock.Now() }

// Go calls fn on another goroutine, which the client's end waits for.
func (c *Client) Go(fn func()) { c.Timers.After(0, fn) }

// Sleep waits for d, or until the client is closed.
func (c *Client) Sleep(d time.Duration) {
	over := make(chan struct{})
	c.Timers.After(d, func() { close(over) })
	<-over
}

// LeaseArg is a lease as the argument of a command.
func (c *Client) LeaseArg(d time.Duration) any {
	if d == c.Watchdog {
		return c.Args.Lease
	}
	return d.Milliseconds()
}

// LateFor is how long a lost command may still run if its connection could not be killed: it is taken to be
// one watchdog timeout, and at least LatchTTL.
func (c *Client) LateFor() time.Duration { return max(c.Watchdog, c.LatchTTL) }

// Fill makes r a request for a kind's call.
func (c *Client) Fill(r *command.Request, slot uint16, call kind.Call) {
	r.Wait, r.Slot = call.Writes && c.Replicas, slot
	r.Fill(call)
}

// Post tells the observer, if there is one, on the queue's goroutine.
func (c *Client) Post(tell func(observe.Observer)) {
	if o := c.Observer; o != nil {
		c.Events.Add(func() { tell(o) })
	}
}

// reconnected counts a connection that replaced another, and tells the observer.
func (c *Client) reconnected(server string, down time.Duration) {
	c.reconnects.Add(1)
	e := observe.Server{To: server, Down: down}
	c.Post(func(o observe.Observer) { o.Reconnected(e) })
}

// Reconnects is how often a connection replaced another.
func (c *Client) Reconnects() int64 { return c.reconnects.Load() }
