package lockstate

import (
	"time"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/internal/background"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// New makes the state of a client that has just begun. It does no I/O. Close or
// Shutdown must be called. Its error is the topology's.
func New(o Config) (*State, error) {
	c := &State{
		id:        uuid.New(),
		o:         o,
		liveHolds: background.NewGauge(),
		releases:  background.NewGauge(),
		work:      background.NewGauge(),
		gone:      make(chan struct{}),
		spares:    newSpares(),
	}
	c.log = eventlog.New(o.Logger, c.id.String())
	c.args.lease = o.Watchdog.Milliseconds()
	c.latchTTL = 5*o.Timeout + time.Second
	c.args.latchTTL = c.latchTTL.Milliseconds()
	c.unlockFor = c.latchTTL - o.Timeout
	c.holdsFor = min(clock.Later(o.Watchdog, o.Timeout), clock.Never/2)
	c.timers.Init()
	var err error
	c.top, err = o.Topology(topology.Settings{Timeout: o.Timeout, Lease: o.Watchdog, Clock: o.Clock, Replicas: o.Replicas, Log: c.log})
	if err != nil {
		return nil, err
	}
	c.spansSlots, c.failsOver = c.top.SpansSlots(), c.top.FailsOver()
	if c.top.Only() != nil {
		c.publishes = publishedBy(c.top.Publish(0))
	}
	c.exec = command.New(c.top, command.Options{
		Timeout: o.Timeout, Now: c.now, Permanent: redisconn.Permanent, Closing: c.Closed,
		After: func(d time.Duration, fn func()) { c.timers.After(d, fn) },
	})
	for i := range c.shards {
		c.shards[i].init(o.Clock, c.exec)
	}
	c.watchdog = watchdog.New(c.renew, watchdog.Options{TTL: o.Watchdog, Clock: o.Clock, Group: renewGroup(c.top)})
	c.trackActors()
	c.following.Go(c.follow)
	return c, nil
}

// Started logs that the client works.
func (c *State) Started() { c.log.Started(c.top.String(), c.o.Watchdog, c.o.Timeout, c.o.Replicas) }
