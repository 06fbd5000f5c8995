package rlock_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// soonEnough is far more than anything here takes, and far less than the leases.
const soonEnough = 10 * time.Second

// patient is an option for clients whose servers may reply late because the machine is busy.
var patient = rlock.WithCommandTimeout(3 * soonEnough)

// movingPool dials the server that at points to.
func movingPool(t *testing.T, at *atomic.Pointer[redistest.Server]) *redis.Pool {
	p := &redis.Pool{Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", at.Load().Addr(), redis.DialReadTimeout(soonEnough), redis.DialWriteTimeout(soonEnough))
	}}
	t.Cleanup(func() { p.Close() })
	return p
}

func client(t *testing.T, p rlock.Pool, opts ...rlock.Option) *rlock.Client {
	t.Helper()
	c, err := rlock.New(p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// demote makes s a replica of an address where nobody listens.
func demote(t *testing.T, s *redistest.Server) {
	t.Helper()
	if _, err := s.Dial(t).Do("REPLICAOF", "127.0.0.1", 1); err != nil {
		t.Fatal(err)
	}
}

// listeners counts the subscribers of the lock's channel.
func listeners(t *testing.T, c redis.Conn, name string) int {
	t.Helper()
	pair, err := redis.Values(c.Do("PUBSUB", "NUMSUB", "redisson_lock__channel:{"+name+"}"))
	if err != nil {
		t.Fatal(err)
	}
	n, _ := redis.Int(pair[1], nil)
	return n
}

func becomes(t testing.TB, what string, is func() bool) { t.Helper(); redistest.Becomes(t, what, is) }

// areRenewed waits until each hold's end has moved. ValidUntil reads two clocks, so 10 ms are no
// renewal.
func areRenewed(t *testing.T, holds ...*rlock.Hold) {
	t.Helper()
	var until []time.Time
	for _, h := range holds {
		until = append(until, h.ValidUntil())
	}
	for i, h := range holds {
		becomes(t, h.Name()+" is renewed", func() bool {
			if err := h.Err(); err != nil {
				t.Fatal(err)
			}
			return h.ValidUntil().After(until[i].Add(10 * time.Millisecond))
		})
	}
}

// The former server stays up and refuses writes; the next one has none of its data.
func TestHoldThatTheNextServerLacksIsLostAtOnce(t *testing.T) {
	t.Parallel()
	old, next := redistest.Start(t), redistest.Start(t)
	var at atomic.Pointer[redistest.Server]
	at.Store(old)
	c := client(t, movingPool(t, &at), rlock.WithWatchdogTimeout(10*time.Minute))
	h, err := c.NewLock("held").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	demote(t, old)
	at.Store(next)
	// The client's next write is refused.
	if _, err := c.NewLock("another").TryLock(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-h.Done():
		if err := h.Err(); !errors.Is(err, rlock.ErrLeaseLost) {
			t.Errorf("got %v", err)
		}
	case <-time.After(3 * soonEnough):
		t.Error("it was not told within the third of its lease")
	}
}

// A waiter that stayed subscribed where nobody publishes any more would sleep for the rest of the lease.
func TestSubscriptionsFollowTheCommandsToAnotherServer(t *testing.T) {
	t.Parallel()
	old, next := redistest.Start(t), redistest.Start(t)
	var at atomic.Pointer[redistest.Server]
	at.Store(old)
	c := client(t, movingPool(t, &at))
	const name = "taken"
	for _, s := range []*redistest.Server{old, next} {
		conn := s.Dial(t)
		if _, err := conn.Do("HSET", name, c.NewOwner().String(), 1); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Do("PEXPIRE", name, time.Hour.Milliseconds()); err != nil {
			t.Fatal(err)
		}
	}
	type entry struct {
		h   *rlock.Hold
		err error
	}
	entered := make(chan entry, 1)
	go func() {
		h, err := c.NewLock(name).Lock(t.Context())
		entered <- entry{h, err}
	}()
	there := old.Dial(t)
	becomes(t, "subscribed", func() bool { return listeners(t, there, name) == 1 })
	demote(t, old)
	at.Store(next)
	if _, err := c.NewLock("another").TryLock(t.Context()); err != nil {
		t.Fatal(err)
	}
	here := next.Dial(t)
	becomes(t, "subscribed at the next server", func() bool { return listeners(t, here, name) == 1 })
	if _, err := here.Do("DEL", name); err != nil {
		t.Fatal(err)
	}
	if _, err := here.Do("PUBLISH", "redisson_lock__channel:{"+name+"}", 0); err != nil {
		t.Fatal(err)
	}
	select {
	case e := <-entered:
		if e.err != nil {
			t.Error(e.err)
		}
	case <-time.After(3 * soonEnough):
		t.Error("the message of the next server woke nobody")
	}
}

func TestPoolThatLeavesRepliesBehindLetsNobodyIn(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	dials := new(atomic.Int64)
	p := &redis.Pool{Dial: func() (redis.Conn, error) {
		dials.Add(1)
		c, err := redis.Dial("tcp", s.Addr(), redis.DialReadTimeout(soonEnough), redis.DialWriteTimeout(soonEnough))
		if err == nil {
			err = c.Send("CLIENT", "SETNAME", "app")
		}
		return c, err
	}}
	t.Cleanup(func() { p.Close() })
	holder, waiter := client(t, p), client(t, p)
	l := waiter.NewLock("dirty")
	h, err := holder.NewLock("dirty").Lock(t.Context(), rlock.Lease(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
		t.Fatalf("somebody holds it, and TryLock says %v", err)
	}
	if held, err := l.IsHeldBy(t.Context(), h.Owner()); !held || err != nil {
		t.Errorf("is held: %t, %v", held, err)
	}
	// A waiter gets the message of the release.
	entered := make(chan error, 1)
	go func() {
		_, err := l.Lock(t.Context())
		entered <- err
	}()
	conn := s.Dial(t)
	becomes(t, "subscribed", func() bool { return listeners(t, conn, "dirty") == 1 })
	if err := h.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-entered:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(3 * soonEnough):
		t.Error("the release woke nobody")
	}
	if n := dials.Load(); n > 4 {
		t.Errorf("%d connections for two clients", n)
	}
}

// A client from Open resolves its server's name, and stops that in Close.
func TestClientWithANamedServerCloses(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, err := rlock.Open(context.Background(), strings.Replace(s.URL(), "127.0.0.1", "localhost", 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}
