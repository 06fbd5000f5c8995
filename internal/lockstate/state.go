package lockstate

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// Config is what a State is made of. All of it is checked already.
type Config struct {
	Watchdog time.Duration // the lease of what is acquired without one
	Timeout  time.Duration // of a command
	Replicas bool          // what changes a lock is followed by WAIT
	Courtesy bool          // leave room for slower clients
	Clock    clock.Clock   // that trust is counted by
	Logger   *slog.Logger  // nil: silent

	// Topology makes what serves the locks, without I/O. It gets the client's
	// settings of connections; only those that a URL or an option says are its own.
	Topology func(topology.Settings) (topology.Topology, error)

	// NewOwner makes an owner's state together with its first hold, in one
	// allocation. NewHold makes a further hold. Each hold is told of its face,
	// see Hold.SetFace.
	NewOwner func() (*OwnerState, *Hold)
	NewHold  func() *Hold
}

// State is what a client knows of its locks. All methods are safe for
// concurrent use.
type State struct {
	id             uuid.UUID
	args           struct{ lease, latchTTL any } // of the watchdog and of latches, in ms, boxed once
	o              Config
	top            topology.Topology
	spansSlots     bool              // what it says of that
	publishes      luasrc.Arg        // what announces every release; nil: the topology is asked for each
	exec           *command.Executor // of all commands
	watchdog       *watchdog.Watchdog
	log            eventLog
	shards         [shardCount]shard
	made           sorted // how many owners it made
	shared         sorted // the newest of its owners that other clients may use
	shown          shownOwners
	strays         strays
	noClientCounts atomic.Bool // the server refuses to count subscribers
	timers         timers

	liveHolds gauge // holds
	releases  gauge // calls of Unlock and UnlockAs
	work      gauge // other commands that change something, their undos included

	following sync.WaitGroup // the goroutine that follows the topology's changes

	state   atomic.Int32
	closing sync.Mutex    // held while closing
	gone    chan struct{} // closed when Close has finished
}

const (
	stateOpen int32 = iota
	stateDraining
	stateClosed
)

// New makes the state of a client that has just begun. It does no I/O. Close or
// Shutdown must be called. Its error is the topology's.
func New(o Config) (*State, error) {
	c := &State{
		id:        uuid.New(),
		o:         o,
		liveHolds: newGauge(),
		releases:  newGauge(),
		work:      newGauge(),
		gone:      make(chan struct{}),
	}
	c.log = newEventLog(o.Logger, c)
	c.args.lease = o.Watchdog.Milliseconds()
	c.args.latchTTL = c.latchTTL().Milliseconds()
	c.timers.init()
	for i := range c.shards {
		c.shards[i].init(c)
	}
	var err error
	c.top, err = o.Topology(topology.Settings{Timeout: o.Timeout, Clock: o.Clock, Replicas: o.Replicas, Logger: c.log.l})
	if err != nil {
		return nil, err
	}
	c.spansSlots = c.top.SpansSlots()
	if c.top.Only() != nil {
		c.publishes = publishedBy(c.top.Publish(0))
	}
	c.exec = command.New(c.top, command.Options{
		Timeout: o.Timeout, Now: c.now, Permanent: redisconn.Permanent, Closing: c.Closed,
		After: func(d time.Duration, fn func()) { c.after(d, fn) },
	})
	c.watchdog = watchdog.New(c.renew, watchdog.Options{TTL: o.Watchdog, Clock: o.Clock, Group: renewGroup(c.top)})
	c.trackSharedOwners()
	c.following.Go(c.follow)
	return c, nil
}

// ID is the first half of every owner that this client makes.
func (c *State) ID() uuid.UUID { return c.id }

// NewOwner makes an owner that was never handed out before, to be handed out. It
// does no I/O.
func (c *State) NewOwner() Owner { return Owner{c.id, 2 * c.made[even].Add(1)} }

// ownOwner makes an owner for one acquisition.
func (c *State) ownOwner() Owner { return Owner{c.id, 2*c.made[odd].Add(1) - 1} }

// Started logs that the client works.
func (c *State) Started() { c.log.started(c, c.top.String()) }

// now is the clock's reading. What happens in a section asks the section.
func (c *State) now() time.Duration { return c.o.Clock.Now() }

// Closed tells whether the client is closed, or about to be.
func (c *State) Closed() bool { return c.state.Load() == stateClosed }

// admit returns an error unless an acquire may begin. It is called with the
// shard locked.
func (c *State) admit(s *shard, l *Lock, t *Terms) error {
	switch c.state.Load() {
	case stateClosed:
		return ErrClosed
	case stateDraining:
		if n := s.find(l); t.As && n != nil && n.holds(t.Owner) {
			return nil
		}
		return fmt.Errorf("%w: it is being shut down, only owners that hold the lock may re-enter", ErrClosed)
	}
	return nil
}
