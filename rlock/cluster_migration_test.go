package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/stalls"
	"github.com/rlock-go/redisson/internal/topologytest"
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

// The channel among the unlock's keys never exists, so no server has all keys; the lock alone is on one server. Both
// kinds of message are published, and the waiter enters by one of them.
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
			if n := g.tryAgain(); n != 1 {
				t.Errorf("answered TRYAGAIN %d times, want once: then it is sent with one key", n)
			}
			select {
			case err := <-entered:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(soonEnough):
				t.Error("the waiter was not woken")
			}
			if !g.there(g.tag) || g.tryAgain() != 1 {
				t.Error("the waiter's acquire has one key, and it was told TRYAGAIN, or holds nothing")
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

// The slot does not settle within the limit. The error says that nothing ran, and the lock is released once the slot has
// settled.
func TestUnlockInASlotThatDoesNotSettleIsNeverUncertain(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	const timeout = 2 * time.Second // the limit is four of them and a second
	for name, given := range map[string]func() (context.Context, context.CancelFunc){
		"to its limit": func() (context.Context, context.CancelFunc) { return context.Background(), func() {} },
		"the caller gives up": func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), time.Millisecond)
		},
	} {
		beside.Run(t, name, func(t *testing.T) {
			g := startSplit(t)
			h := held(t, openCluster(t, g.s, rlock.WithCommandTimeout(timeout)).NewLock(g.tag))
			_ = h.Owner().String() // others may act as this owner, so the unlock needs a latch
			g.begin(1)
			ctx, cancel := given()
			defer cancel()
			began := time.Now()
			err := h.Unlock(ctx)
			if err == nil || errors.Is(err, rlock.ErrUncertain) || !strings.Contains(err.Error(), "TRYAGAIN") || !strings.Contains(err.Error(), "not released so far") {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
			if d := time.Since(began); d > 4*timeout+2*time.Second+stalls.Since(began) {
				t.Errorf("told after %v", d)
			}
			if !g.there(g.tag) {
				t.Error("the key is gone")
			}
			g.settle()
			becomes(t, "it is released in the background", func() bool { return !g.there(g.tag) })
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
			if n := g.tryAgain(); n != 1 {
				t.Errorf("answered TRYAGAIN %d times, want once: then it is sent with one key", n)
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

// No server has all keys of an acquire with several. Its waiters wait until the slot has settled, however long that
// takes.
func TestWaitsGoOnUntilTheSlotHasSettled(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	const timeout = 2 * time.Second
	type acquire func(ctx context.Context) (release func(context.Context) error, err error)
	of := func(l *rlock.Lock) acquire {
		return func(ctx context.Context) (func(context.Context) error, error) {
			h, err := l.Lock(ctx)
			if err != nil {
				return nil, err
			}
			return h.Unlock, nil
		}
	}
	for kind, row := range map[string]struct {
		set     func(t *testing.T, c *rlock.Client, name string) error // creates the keys that exist before the acquire
		acquire func(c *rlock.Client, name string) acquire
	}{
		"fair":   {nil, func(c *rlock.Client, name string) acquire { return of(c.NewFairLock(name)) }},
		"fenced": {nil, func(c *rlock.Client, name string) acquire { return of(c.NewFencedLock(name)) }},
		"read": {func(t *testing.T, c *rlock.Client, name string) error {
			_, err := c.NewReadWriteLock(name).ReadLock().Lock(t.Context())
			return err
		}, func(c *rlock.Client, name string) acquire { return of(c.NewReadWriteLock(name).ReadLock()) }},
		"semaphore": {func(t *testing.T, c *rlock.Client, name string) error {
			_, err := c.NewSemaphore(name).TrySetPermits(t.Context(), 2)
			return err
		}, func(c *rlock.Client, name string) acquire {
			s := c.NewSemaphore(name)
			return func(ctx context.Context) (func(context.Context) error, error) {
				return func(ctx context.Context) error { return s.Release(ctx, 1) }, s.Acquire(ctx, 1)
			}
		}},
		"permits": {func(t *testing.T, c *rlock.Client, name string) error {
			_, err := c.NewPermitSemaphore(name).TrySetPermits(t.Context(), 2)
			return err
		}, func(c *rlock.Client, name string) acquire {
			return func(ctx context.Context) (func(context.Context) error, error) {
				p, err := c.NewPermitSemaphore(name).Acquire(ctx, 1)
				if err != nil {
					return nil, err
				}
				return p.Release, nil
			}
		}},
	} {
		beside.Run(t, kind, func(t *testing.T) {
			g := startSplit(t)
			c := openCluster(t, g.s, rlock.WithCommandTimeout(timeout), rlock.WithWatchdogTimeout(10*time.Minute))
			held(t, c.NewLock(nameOn(1))) // connects to both servers: that may take as long as a command
			if row.set != nil {
				if err := row.set(t, c, g.tag); err != nil {
					t.Fatal(err)
				}
			}
			g.begin(0)
			call := row.acquire(c, g.tag)
			ended := make(chan error, 2)
			for range 2 { // the second waits behind the first
				go func() {
					release, err := call(t.Context())
					if err == nil {
						err = release(t.Context())
					}
					ended <- err
				}()
			}
			select {
			case err := <-ended:
				t.Fatalf("it does not wait: %v", err)
			case <-time.After(2*timeout + timeout/2):
			}
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			_, err := call(ctx)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("its context has ended: %v", err)
			}
			g.settle()
			for range 2 {
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// No server has all keys of the re-entry, so it waits. Meanwhile the hold that it re-enters must be renewed.
func TestHoldIsRenewedWhileAReentryWaitsForItsSlot(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	for kind, row := range map[string]struct {
		lock  func(c *rlock.Client, name string) *rlock.Lock
		moved int
	}{
		"read":   {func(c *rlock.Client, name string) *rlock.Lock { return c.NewReadWriteLock(name).ReadLock() }, 0},
		"fair":   {(*rlock.Client).NewFairLock, 0},
		"fenced": {(*rlock.Client).NewFencedLock, 1},
	} {
		beside.Run(t, kind, func(t *testing.T) {
			g := startSplit(t)
			l := row.lock(openCluster(t, g.s, rlock.WithWatchdogTimeout(4500*time.Millisecond)), g.tag)
			outer := held(t, l)
			g.begin(row.moved)
			entered := make(chan error, 1)
			go func() {
				inner, err := l.Lock(t.Context(), rlock.As(outer.Owner()))
				if err == nil {
					err = inner.Unlock(t.Context())
				}
				entered <- err
			}()
			becomes(t, "it was answered TRYAGAIN more than once", func() bool { return g.tryAgain() > 2 })
			renewed(t, outer)
			g.settle()
			if err := <-entered; err != nil {
				t.Error(err)
			}
			if err := outer.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// The only place in the queue has expired, so the script deletes the keys that the new place would be in. It may not make
// them again: now they belong to the other server. The undo needs all keys too, and the waiter outlasts it.
func TestAcquireThatMeetsAKeyElsewhereIsTriedAgain(t *testing.T) {
	t.Parallel()
	const timeout = time.Second
	g := startSplit(t)
	conn := g.s.Conn(0)
	for _, args := range [][]any{{"HSET", g.tag, "somebody", 1}, {"RPUSH", codec.FairQueue(g.tag), "dead"}, {"ZADD", codec.FairTimes(g.tag), 1, "dead"}} {
		if _, err := conn.Do(args[0].(string), args[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	g.begin(0)
	entered := make(chan error, 1)
	l := openCluster(t, g.s, rlock.WithCommandTimeout(timeout)).NewFairLock(g.tag)
	go func() {
		h, err := l.Lock(t.Context())
		if err == nil {
			err = h.Unlock(t.Context())
		}
		entered <- err
	}()
	becomes(t, "it meets that key", func() bool { return !g.there(codec.FairQueue(g.tag)) })
	select {
	case err := <-entered:
		t.Fatalf("it does not wait: %v", err)
	case <-time.After(3 * timeout):
	}
	g.settle()
	if _, err := g.s.Conn(1).Do("DEL", g.tag); err != nil {
		t.Fatal(err)
	}
	if err := <-entered; err != nil {
		t.Error(err)
	}
}

// All permits that were taken have expired, so the script deletes the key that it would add its ids to.
func TestPermitsAreExactThoughAnAcquireMeetsAKeyElsewhere(t *testing.T) {
	t.Parallel()
	g := startSplit(t)
	s := openCluster(t, g.s).NewPermitSemaphore(g.tag)
	if _, err := s.TrySetPermits(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	conn := g.s.Conn(0)
	for _, args := range [][]any{{"SET", g.tag, 0}, {"ZADD", codec.PermitTimes(g.tag), 1, "0123456789abcde1", 1, "0123456789abcde2"}} {
		if _, err := conn.Do(args[0].(string), args[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	g.begin(0)
	taken := make(chan error, 1)
	go func() {
		p, err := s.Acquire(t.Context(), 2)
		if err == nil {
			err = p.Release(t.Context())
		}
		taken <- err
	}()
	becomes(t, "it meets that key", func() bool { return !g.there(codec.PermitTimes(g.tag)) })
	g.settle()
	select {
	case err := <-taken:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(soonEnough):
		t.Error("both are free, and nobody gets them")
	}
	if n, err := s.Available(t.Context()); n != 2 || err != nil {
		t.Errorf("%d are free: %v", n, err)
	}
}

// A call that does not wait fails after a command timeout, one with a time limit at its end.
func TestBoundsInASlotThatDoesNotSettle(t *testing.T) {
	t.Parallel()
	const timeout = time.Second
	g := startSplit(t)
	l := openCluster(t, g.s, rlock.WithCommandTimeout(timeout)).NewFairLock(g.tag)
	g.begin(0)
	for what, row := range map[string]struct {
		call  func() (*rlock.Hold, error)
		least time.Duration
	}{
		"one attempt": {func() (*rlock.Hold, error) { return l.TryLock(t.Context()) }, timeout / 2},
		"a wait":      {func() (*rlock.Hold, error) { return l.TryLockFor(t.Context(), 3*timeout) }, 3 * timeout},
	} {
		began := time.Now()
		_, err := row.call()
		if took := time.Since(began); !errors.Is(err, rlock.ErrUnavailable) && !errors.Is(err, rlock.ErrUncertain) || !strings.Contains(err.Error(), "TRYAGAIN") && !strings.Contains(err.Error(), "ASK ") || took < row.least || took > row.least+soonEnough {
			t.Errorf("%s: %v after %v", what, err, took)
		}
	}
}
