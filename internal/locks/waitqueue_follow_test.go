package locks

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/topology"
)

// A caller that joins before the new subscription is confirmed must not rely on messages: its message may have been
// published before.
func TestQueueDoesNotListenBeforeItsNewSubscriptionIsConfirmed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := mustAcquire(t, &l)
	ended := make(chan outcome, 1)
	wait(t.Context(), t, &l, 0, ended, Terms{})
	listens := func() bool {
		defer l.shard.enter(mustNotBlock).leave()
		return l.shard.names[l.nameKey].findQueue(&l, Owner{}).Listening()
	}
	redistest.Becomes(t, "the waiter listens", listens)
	func() { // in one section, so that no confirmation comes between
		defer l.shard.enter(mayBlock).leave()
		q := l.shard.names[l.nameKey].findQueue(&l, Owner{})
		if q.resubscribe(); q.Listening() {
			t.Error("it listens, though its subscription was made anew and is not confirmed")
		}
	}()
	mustUnlock(t, h)
	mustUnlock(t, next(t, ended).hold)
}

// elsewhere is a topology whose waiters listen on another server once their slot has moved.
type elsewhere struct {
	topology.Topology
	other topology.Topology
	moved *atomic.Bool
}

func (e elsewhere) Subscriptions(slot uint16) []topology.Subscription {
	if e.moved.Load() {
		return e.other.Subscriptions(slot)
	}
	return e.Topology.Subscriptions(slot)
}

// The server that the slot has moved to takes commands, but no subscription. The waiter hears of no release there, and
// must not wait for the lease that it was told before.
func TestWaiterWhoseSlotHasMovedLooksUntilItListens(t *testing.T) {
	t.Parallel()
	here, there := redistest.Start(t), redistest.Start(t)
	o := config()
	other, err := topology.Open(there.URL(), topology.Settings{Timeout: o.Timeout, Clock: o.Clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close(soon) })
	there.Pause()
	defer there.Resume()
	moved := new(atomic.Bool)
	o.Topology = func(s topology.Settings) (topology.Topology, error) {
		top, err := topology.Open(here.URL(), s)
		return elsewhere{top, other, moved}, err
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	l, conn := c.NewLock(kind.Reentrant, "k", "k"), here.Dial(t)
	do(t, conn, "HSET", "k", c.NewOwner().String(), 1)
	do(t, conn, "PEXPIRE", "k", time.Hour.Milliseconds())
	ended := make(chan outcome, 1)
	wait(t.Context(), t, &l, 0, ended, Terms{})
	awaitsMessage(t, &l, 1)
	func() { // its timer may still be for a look before it listened
		defer l.shard.enter(mustNotBlock).leave()
		q := l.shard.names[l.nameKey].findQueue(&l, Owner{})
		q.Tick(l.shard.Now())
		l.shard.names[l.nameKey].step()
	}()
	moved.Store(true)
	c.changed(topology.Change{Slots: topology.AllSlots, From: c.top.Nodes()[0], To: other.Nodes()[0]})
	do(t, conn, "DEL", "k")
	mustUnlock(t, next(t, ended).hold)
}
