package lockstate

import (
	"hash/maphash"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/internal/background"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/luasrc"
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
	LongHold time.Duration // an older hold is logged; 0: none is

	// Topology makes what serves the locks, without I/O. It gets the client's
	// settings of connections; only those that a URL or an option says are its own.
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
	args           struct{ lease, latchTTL any } // of the watchdog and of latches, in ms, boxed once
	latchTTL       time.Duration                 // how long the server remembers an unlock
	unlockFor      time.Duration                 // how long an unlock is sent: its latch outlives every send by a command timeout (R1)
	holdsFor       time.Duration                 // when the server has dropped what is not renewed, at the latest
	o              Config
	top            topology.Topology
	spansSlots     bool              // what it says of that
	failsOver      bool              // and of that
	publishes      luasrc.Arg        // what announces every release; nil: the topology is asked for each
	exec           *command.Executor // of all commands
	watchdog       *watchdog.Watchdog
	log            *eventlog.Log // nil: silent
	shards         [shardCount]shard
	actors         actors       // who may act as its owners
	pastShared     atomic.Int64 // how many past unlocks its shards have beyond ownPast, in all
	masters        atomic.Pointer[[]masterChange]
	noClientCounts atomic.Bool // the server refuses to count subscribers
	timers         background.Timers
	spares         spares

	liveHolds background.Gauge // holds
	releases  background.Gauge // calls of Unlock and UnlockAs
	work      background.Gauge // other commands that change something, their undos included

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
			for n != nil {
				next := n.sibling // fn may drop it
				fn(n)
				n = next
			}
		}
		sec.leave()
	}
}

// leaseArg is a lease as the argument of a command.
func (c *State) leaseArg(d time.Duration) any {
	if d == c.o.Watchdog {
		return c.args.lease
	}
	return d.Milliseconds()
}
