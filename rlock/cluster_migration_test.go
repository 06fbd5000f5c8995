package rlock_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// splitRig is a cluster of two servers. The first owns the slot of tag, and begins to migrate it to the second.
type splitRig struct {
	*testing.T
	s    *topologytest.Cluster
	tag  string
	slot uint16
}

func startSplit(t *testing.T) *splitRig {
	g := &splitRig{T: t, s: topologytest.Start(t, 1, 1), tag: "{" + nameOn(0) + "}"}
	g.slot = codec.Slot(g.tag)
	return g
}

// begin starts the migration and moves that many of the slot's keys to the second server.
func (g *splitRig) begin(moved int) {
	g.Helper()
	g.s.Begin(g.slot, 0, 1)
	if n := g.s.MoveKeys(g.slot, 0, 1, moved); n != moved {
		g.Fatalf("%d keys moved, want %d", n, moved)
	}
}

// settle finishes the migration to the second server.
func (g *splitRig) settle() {
	g.Helper()
	for g.s.MoveKeys(g.slot, 0, 1, 100) > 0 {
	}
	g.s.End(g.slot, 0, 1)
}

// tryAgain counts the TRYAGAIN replies of both servers.
func (g *splitRig) tryAgain() int {
	g.Helper()
	return topologytest.Errors(g.T, g.s.Conn(0), "TRYAGAIN") + topologytest.Errors(g.T, g.s.Conn(1), "TRYAGAIN")
}

// there tells whether any server has the key.
func (g *splitRig) there(key string) bool {
	g.Helper()
	for i := range 2 {
		keys, err := redis.Strings(g.s.Conn(i).Do("KEYS", "*"))
		if err != nil {
			g.Fatal(err)
		}
		if slices.Contains(keys, key) {
			return true
		}
	}
	return false
}

// subscribed counts the subscribers of the tag's own channel at the first server.
func (g *splitRig) subscribed() int {
	g.Helper()
	pair, err := redis.Values(g.s.Conn(0).Do("PUBSUB", "NUMSUB", codec.Channel(g.tag)))
	if err != nil {
		g.Fatal(err)
	}
	n, _ := redis.Int(pair[1], nil)
	return n
}

func held(t *testing.T, l *rlock.Lock) *rlock.Hold {
	t.Helper()
	h, err := l.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// The lock is the unlock's only key, so the server that has it runs the unlock. Both kinds of message are published, and
// the waiter enters by one of them.
func TestUnlockWithoutALatchRunsWhereTheLockIs(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	for where, moved := range map[string]int{"still at the first server": 0, "moved": 1} {
		beside.Run(t, where, func(t *testing.T) {
			g := startSplit(t)
			h := held(t, openCluster(t, g.s, rlock.WithWatchdogTimeout(10*time.Minute)).NewLock(g.tag))
			entered := make(chan error, 1)
			waiter := openCluster(t, g.s)
			go func() {
				_, err := waiter.NewLock(g.tag).Lock(t.Context())
				entered <- err
			}()
			becomes(t, "the waiter listens", func() bool { return g.subscribed() == 1 })
			g.begin(moved)
			began := time.Now()
			if err := h.Unlock(t.Context()); err != nil {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
			select {
			case err := <-entered:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(soonEnough):
				t.Error("the waiter was not woken")
			}
			if !g.there(g.tag) || g.tryAgain() != 0 {
				t.Error("the unlock and the waiter's acquire have one key, and were told TRYAGAIN, or the waiter holds nothing")
			}
		})
	}
}

// A fenced lock's acquire has two keys, and a free lock has no key. So no server has both keys until the slot has
// settled. The release before it runs where the lock is.
func TestWaiterOfAFencedLockEntersWhenItsSlotHasSettled(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	for where, moved := range map[string]int{"nothing moved": 0, "one key moved": 1} {
		beside.Run(t, where, func(t *testing.T) {
			g := startSplit(t)
			h := held(t, openCluster(t, g.s, rlock.WithWatchdogTimeout(10*time.Minute)).NewFencedLock(g.tag))
			entered := make(chan *rlock.Hold, 1)
			waiter := openCluster(t, g.s)
			go func() {
				h, err := waiter.NewFencedLock(g.tag).Lock(t.Context())
				if err != nil {
					t.Error(err)
				}
				entered <- h
			}()
			becomes(t, "the waiter listens", func() bool { return g.subscribed() == 1 })
			g.begin(moved)
			if err := h.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
			becomes(t, "the waiter was answered TRYAGAIN more than once", func() bool { return g.tryAgain() > 2 })
			g.settle()
			next := <-entered
			if next.Token() != 2 || h.Token() != 1 {
				t.Errorf("tokens %d and %d", h.Token(), next.Token())
			}
			if err := next.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// With a latch the unlock has two keys, so it waits until the slot has settled. A spin lock's unlock always has one.
func TestUnlockWithALatchWaitsUntilTheSlotHasSettled(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	for name, lock := range map[string]func(c *rlock.Client, name string) *rlock.Lock{
		"plain": (*rlock.Client).NewLock,
		"spin":  (*rlock.Client).NewSpinLock,
	} {
		beside.Run(t, name, func(t *testing.T) {
			g := startSplit(t)
			h := held(t, lock(openCluster(t, g.s), g.tag))
			_ = h.Owner().String() // others may act as this owner, so the unlock needs a latch
			g.begin(0)
			end := make(chan error, 1)
			go func() { end <- h.Unlock(context.Background()) }()
			becomes(t, "it was answered TRYAGAIN more than once", func() bool { return g.tryAgain() > 2 })
			g.settle()
			if err := <-end; err != nil {
				t.Error(err)
			}
			if g.there(g.tag) {
				t.Error("the key is there")
			}
		})
	}
}

// A forced unlock has two keys, and its channel never exists. The slot never settles here.
func TestForceUnlockRunsWhereTheLockIs(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	for name, at := range map[string]struct {
		moved int
		free  bool
	}{
		"still at the first server": {moved: 0},
		"moved":                     {moved: 1},
		"free":                      {free: true},
	} {
		beside.Run(t, name, func(t *testing.T) {
			g := startSplit(t)
			forcer := openCluster(t, g.s).NewLock(g.tag)
			entered := make(chan error, 1)
			if !at.free {
				held(t, openCluster(t, g.s, rlock.WithWatchdogTimeout(10*time.Minute)).NewLock(g.tag))
				waiter := openCluster(t, g.s).NewLock(g.tag)
				go func() {
					_, err := waiter.Lock(t.Context())
					entered <- err
				}()
				becomes(t, "the waiter listens", func() bool { return g.subscribed() == 1 })
			}
			g.begin(at.moved)
			began := time.Now()
			forced, err := forcer.ForceUnlock(t.Context())
			if err != nil || forced == at.free {
				t.Fatalf("after %v: forced %v, %v", time.Since(began), forced, err)
			}
			if at.free {
				return
			}
			select {
			case err := <-entered:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(soonEnough):
				t.Error("the waiter was not woken")
			}
		})
	}
}

// A batch of renewals has keys at both servers.
func TestLeasesOfASlotInTwoPlacesAreRenewedOneByOne(t *testing.T) {
	t.Parallel()
	g := startSplit(t)
	c := openCluster(t, g.s, rlock.WithWatchdogTimeout(15*time.Second)) // of which two thirds may pass on a slow machine
	var holds []*rlock.Hold
	for i := range 20 {
		holds = append(holds, held(t, c.NewLock(fmt.Sprint(g.tag, i))))
	}
	g.begin(10)
	becomes(t, "a batch is answered TRYAGAIN", func() bool { return g.tryAgain() > 0 })
	areRenewed(t, holds...)
	for _, h := range holds {
		if err := h.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
