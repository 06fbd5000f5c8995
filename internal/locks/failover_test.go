package locks

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/topology"
)

// failedOver sets a server back to an earlier state, as a failover does: the next master has only the first part of
// what the former one ran.
type failedOver struct {
	t    *testing.T
	conn redis.Conn
	had  map[string]string
}

// keep remembers what the server has.
func (s *failedOver) keep() {
	s.t.Helper()
	s.had = map[string]string{}
	keys, err := redis.Strings(s.conn.Do("KEYS", "*"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, key := range keys {
		if dump, err := redis.String(s.conn.Do("DUMP", key)); err == nil { // it may have expired
			s.had[key] = dump
		}
	}
}

// setBack restores that state in one transaction.
func (s *failedOver) setBack() {
	s.t.Helper()
	_ = s.conn.Send("MULTI")
	_ = s.conn.Send("FLUSHALL")
	for key, dump := range s.had {
		_ = s.conn.Send("RESTORE", key, (10 * time.Minute).Milliseconds(), dump)
	}
	do(s.t, s.conn, "EXEC")
}

// replaced is a server that is set back, with a lock of each of its two clients. Both may act as one owner.
type replaced struct {
	failedOver
	c        *Client
	l, other Lock
	as       Terms
}

func newReplaced(t *testing.T) *replaced {
	t.Helper()
	s := redistest.Start(t)
	r := &replaced{failedOver: failedOver{t: t, conn: s.Dial(t)}, c: openReplaced(t, s)}
	r.l, r.other = r.c.NewLock(kind.Reentrant, "orders", "orders"), openReplaced(t, s).NewLock(kind.Reentrant, "orders", "orders")
	r.as = Terms{Owner: r.c.NewOwner(), As: true}
	_ = r.as.Owner.Share()
	return r
}

// openReplaced opens a client whose server may be replaced.
func openReplaced(t *testing.T, s *redistest.Server) *Client {
	t.Helper()
	o := config()
	o.Replicas = true
	o.Topology = func(settings topology.Settings) (topology.Topology, error) { return topology.Open(s.URL(), settings) }
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// repeated reports a failover to the clients, and returns when every repetition has ended.
func repeated(t *testing.T, clients ...*Client) {
	t.Helper()
	for _, c := range clients {
		c.repeatPast(topology.AllSlots, true)
	}
	for _, c := range clients {
		redistest.Becomes(t, "the repetitions end", func() bool { return !c.repeatsLeft() })
	}
}

// repeatsLeft tells whether a repetition of an unlock is due or under way.
func (c *Client) repeatsLeft() (any bool) {
	for i := range c.shards {
		s := &c.shards[i]
		sec := s.enter(mustNotBlock)
		any = any || s.past.repeats > 0 || slices.ContainsFunc(s.past.changes, func(u *pastChange) bool { return u.due })
		for u := range s.past.each {
			any = any || u.due
		}
		sec.leave()
	}
	return any
}

// If the next master lacks a hold and its unlock, repeating it would release another client's hold of the same owner. So
// the unlock of a foreign owner is not repeated.
func TestUnlockOfAHoldThatNotAllHaveMeetsNoOtherClients(t *testing.T) {
	t.Parallel()
	r := newReplaced(t)
	acquireAs(t, &r.other, r.as)
	r.keep()
	mustUnlock(t, acquireAs(t, &r.l, r.as))
	r.setBack()
	repeated(t, r.c)
	becomes(t, r.conn, 1, "HEXISTS", "orders", r.as.Owner.String())
}

// Here the owner holds again before the repetition, which leaves it that hold. Then another client acts as the owner.
func TestRepetitionThatWasNotNeededMeetsNoLaterHold(t *testing.T) {
	t.Parallel()
	r := newReplaced(t)
	as := Terms{Owner: r.c.NewOwner(), As: true}
	kept := acquireAs(t, &r.l, as)
	r.keep()
	gone := acquireAs(t, &r.l, as)
	mustUnlock(t, gone)
	mustUnlock(t, kept)
	r.setBack()
	acquireAs(t, &r.l, as)
	repeated(t, r.c)
	count := func(n int) {
		t.Helper()
		if got, err := redis.Int(r.conn.Do("HGET", "orders", as.Owner.String())); got != n || err != nil {
			t.Errorf("the server counts %d, %v, want %d", got, err, n)
		}
	}
	count(1)
	acquireAs(t, &r.other, as)
	repeated(t, r.c)
	count(2)
}

// backAgain restores on the server what an unlock deleted, as if it had not run.
func backAgain(t *testing.T, conn redis.Conn, h *Hold) {
	t.Helper()
	do(t, conn, "HSET", h.lock.key, h.state.Owner.String(), 1)
}

// The repetition wakes the waiter.
func TestUnlockIsSentAgainBehindALostConnection(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := openReplaced(t, s)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := mustAcquire(t, &l)
	mustUnlock(t, h)
	backAgain(t, conn, h)
	other := open(t, s)
	lo := other.NewLock(kind.Reentrant, "orders", "orders")
	ended := make(chan outcome, 1)
	refused(t, wait(t.Context(), t, &lo, 0, ended, Terms{}), 1)
	if do(t, conn, "CLIENT", "KILL", "TYPE", "normal") == int64(0) {
		t.Fatal("there was no connection")
	}
	mustUnlock(t, next(t, ended).hold)
}

// A shard repeats all its unlocks, even if there are more than it sends at once.
func TestUnlocksBeyondThoseUnderWayAreSentAgain(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := openReplaced(t, s)
	var of *shard
	for i, n := 0, 0; n < 3*repeatsAtOnce; i++ {
		name := fmt.Sprint("orders-", i)
		l := c.NewLock(kind.Reentrant, name, name)
		if of == nil {
			of = l.shard
		}
		if l.shard == of {
			h := mustAcquire(t, &l)
			mustUnlock(t, h)
			backAgain(t, conn, h)
			n++
		}
	}
	repeated(t, c)
	becomes(t, conn, 0, "DBSIZE")
}

// ahead is a clock that can leap ahead.
type ahead struct {
	clock.Clock
	by atomic.Int64
}

func (c *ahead) Now() time.Duration { return c.Clock.Now() + time.Duration(c.by.Load()) }

func TestOldUnlocksAreNotSentAgain(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	now := &ahead{Clock: clock.System()}
	o := config()
	o.Replicas, o.Clock = true, now
	c := openWith(t, s, o)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := mustAcquire(t, &l)
	mustUnlock(t, h)
	backAgain(t, conn, h)
	now.by.Store(int64(repeatedFor + time.Second))
	repeated(t, c)
	becomes(t, conn, 1, "EXISTS", "orders")
}

// However often an unlock is sent again, one of it is remembered.
func TestRepetitionTakesNoPlaceOfItsOwn(t *testing.T) {
	t.Parallel()
	r := newReplaced(t)
	mustUnlock(t, mustAcquire(t, &r.l))
	for range 3 {
		r.c.repeatPast(topology.AllSlots, true)
		redistest.Becomes(t, "it was sent again", func() bool { return !r.c.repeatsLeft() })
	}
	s := r.l.shard
	defer s.enter(mustNotBlock).leave()
	if n := len(s.past.all); n != 1 || s.past.all[0].again != 3 {
		t.Errorf("%d unlocks are remembered, the first of which was sent again as number %d", n, s.past.all[0].again)
	}
}

// Repetitions wait for a server. Close doesn't wait a whole lease for them.
func TestCloseDoesNotWaitForRepetitions(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	o := config()
	o.Replicas = true
	c := openWith(t, s, o)
	for i := range 10 {
		l := c.NewLock(kind.Reentrant, fmt.Sprint("orders-", i), fmt.Sprint("orders-", i))
		mustUnlock(t, mustAcquire(t, &l))
	}
	s.Kill()
	c.repeatPast(topology.AllSlots, true)
	if !c.repeatsLeft() {
		t.Fatal("nothing is sent again")
	}
	c.Close() // the lease is longer than the test may take
	if timers, commands := c.UnderWay(); timers+commands > 0 {
		t.Errorf("%d timers, %d commands are left", timers, commands)
	}
}
