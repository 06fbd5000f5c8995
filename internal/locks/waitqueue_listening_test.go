package locks

import (
	"fmt"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/topology"
)

// twice is a topology whose waiters listen on a second server, too.
type twice struct {
	topology.Topology
	other topology.Topology
}

func (t twice) Subscriptions(slot uint16) []topology.Subscription {
	return append(t.Topology.Subscriptions(slot), t.other.Subscriptions(slot)...)
}

func TestWaiterOfSeveralSubscriptionsListensWhenAllAreConfirmed(t *testing.T) {
	t.Parallel()
	here, there := redistest.Start(t), redistest.Start(t)
	o := config()
	other, err := topology.Open(there.URL(), topology.Settings{Timeout: o.Timeout, Clock: o.Clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close(soon) })
	o.Topology = func(s topology.Settings) (topology.Topology, error) {
		top, err := topology.Open(here.URL(), s)
		return twice{top, other}, err
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	l, conn := c.NewLock(kind.Reentrant, "k", "k"), here.Dial(t)
	channel := l.kind.Channel(&l.names, nil)
	ended := make(chan outcome, 1)
	waits := func(listens bool) {
		t.Helper()
		do(t, conn, "HSET", "k", c.NewOwner().String(), 1)
		do(t, conn, "PEXPIRE", "k", time.Hour.Milliseconds())
		wait(t.Context(), t, &l, 0, ended, Terms{})
		redistest.Becomes(t, fmt.Sprint("it waits, and that it listens is ", listens), func() bool {
			s := l.Snapshot()
			return s.Waiting == 1 && !s.InFlight && s.Listening == listens
		})
		do(t, conn, "DEL", "k")
	}
	there.Pause()
	waits(false)
	becomes(t, conn, 1, "PUBLISH", channel, "0")
	none(t, ended) // its next look will find the lock free
	there.Resume()
	mustUnlock(t, next(t, ended).hold)
	for _, at := range []redis.Conn{conn, there.Dial(t)} {
		waits(true)
		do(t, at, "PUBLISH", channel, "0")
		mustUnlock(t, next(t, ended).hold)
	}
	// One subscription is lost and confirmed again; messages may have been lost between.
	waits(true)
	do(t, there.Dial(t), "CLIENT", "KILL", "TYPE", "pubsub")
	mustUnlock(t, next(t, ended).hold)
	for _, at := range []redis.Conn{conn, there.Dial(t)} {
		becomes(t, at, 0, "PUBLISH", channel, "0")
	}
}
