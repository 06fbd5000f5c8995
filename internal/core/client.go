// Package core is what a client's operations share: what it was configured with, its topology, the executor
// of its commands, its timers, its log, its observer and who may act as its owners ([Client]); and of a lock what never
// changes ([Lock]). It knows nothing of who holds or waits. What only reads is asked here ([Lock.Ask]), since nothing
// comes of it.
package core

import (
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/internal/background"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/topology"
)

// Config is what a client is made of. All of it is checked already.
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
}

// Client is what the operations of one client share. All methods are safe for concurrent use.
type Client struct {
	Config
	ID         uuid.UUID                                 // the first half of every owner that it makes
	Args       struct{ Lease, LatchTTL, ReceiptTTL any } // of the watchdog, of latches and of receipts, in ms, boxed once
	LatchTTL   time.Duration                             // how long the server remembers an unlock at least
	UnlockFor  time.Duration                             // how long an unlock is sent: its latch outlives every send by a command timeout (R1)
	ChangeFor  time.Duration                             // how long a change is sent that is due: half as long as its receipt lives
	Top        topology.Topology
	SpansSlots bool              // Top.SpansSlots(), cached
	FailsOver  bool              // Top.FailsOver(), cached
	Exec       *command.Executor // of all commands
	Log        *eventlog.Log     // nil: silent
	Actors     owner.Actors      // who may act as its owners
	Timers     background.Timers
	Work       background.Gauge // commands under way that change something, but for those that their callers count
	Events     observe.Queue

	phase      atomic.Int32
	reconnects atomic.Int64
}

const (
	open int32 = iota
	draining
	closed
)

// Init makes the zero Client ready, without I/O. Its error is the topology's. sent is told of each command that has ended;
// nil: nobody is.
func (c *Client) Init(o Config, sent func(*command.Request)) (err error) {
	c.Config, c.ID, c.Work = o, uuid.New(), background.NewGauge()
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
		c.Args.LatchTTL = c.LatchTTL.Milliseconds() // many stay, to be sent again after a failover
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
func (c *Client) Drain() { c.phase.CompareAndSwap(open, draining) }

// Shut says that the client is closed, or about to be.
func (c *Client) Shut() { c.phase.Store(closed) }

// Now is the clock's reading. What happens in a section asks the section.
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

// LateFor is for how long a lost command is reckoned with whose connection could not
// be killed: one watchdog timeout, and at least as long as the server remembers an
// unlock.
func (c *Client) LateFor() time.Duration { return max(c.Watchdog, c.LatchTTL) }

// Fill makes r a request for what a kind wants to be sent.
func (c *Client) Fill(r *command.Request, slot uint16, call kind.Call) {
	r.Wait, r.Slot = call.Writes && c.Replicas, slot
	r.Wire.Command, r.Wire.Script, r.Wire.Args = call.Name, call.Script, call.Args
}

// Post tells the observer, if there is one, on the queue's goroutine.
func (c *Client) Post(tell func(observe.Observer)) {
	if o := c.Observer; o != nil {
		c.Events.Add(func() { tell(o) })
	}
}

// reconnected counts a connection that took the place of another.
func (c *Client) reconnected(server string, down time.Duration) {
	c.reconnects.Add(1)
	e := observe.Server{To: server, Down: down}
	c.Post(func(o observe.Observer) { o.Reconnected(e) })
}

// Reconnects is how often a connection took the place of another.
func (c *Client) Reconnects() int64 { return c.reconnects.Load() }
