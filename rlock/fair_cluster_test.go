package rlock_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// fairEntry is the result of a wait for a fair lock.
type fairEntry struct {
	who int
	h   *rlock.Hold
	err error
}

// fairQueueUp starts a waiter for each client, once the one before it has its place on the server.
func fairQueueUp(t *testing.T, conn redis.Conn, name string, clients ...*rlock.Client) <-chan fairEntry {
	t.Helper()
	entered := make(chan fairEntry, len(clients))
	for i, c := range clients {
		go func() {
			h, err := c.NewFairLock(name).Lock(t.Context())
			entered <- fairEntry{i, h, err}
		}()
		becomes(t, "it has a place", func() bool {
			n, err := redis.Int(conn.Do("LLEN", codec.FairQueue(name)))
			return err == nil && n == i+1
		})
	}
	return entered
}

// fairEnters checks that the waiters enter in their order, one at a time.
func fairEnters(t *testing.T, h *rlock.Hold, entered <-chan fairEntry) {
	t.Helper()
	for i := range cap(entered) {
		if err := h.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case e := <-entered:
			if e.err != nil || e.who != i {
				t.Fatalf("%d entered in the place of %d: %v", e.who, i, e.err)
			}
			h = e.h
		case <-time.After(6 * soonEnough):
			t.Fatalf("%d does not enter", i)
		}
	}
	if err := h.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// noneLeft checks that the server has no key of the lock.
func noneLeft(t *testing.T, conn redis.Conn, name string) {
	t.Helper()
	for _, key := range []string{name, codec.FairQueue(name), codec.FairTimes(name)} {
		if n, err := redis.Int(conn.Do("EXISTS", key)); err != nil || n != 0 {
			t.Errorf("%s is left: %v", key, err)
		}
	}
}

func TestFairLockOfAClusterGoesInOrder(t *testing.T) {
	t.Parallel()
	s := topologytest.StartReplicated(t, 1, 1, 1)
	a, b := openCluster(t, s), openCluster(t, s)
	for master := range 3 {
		name := nameOf(master, 0)
		h, err := a.NewFairLock(name).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		fairEnters(t, h, fairQueueUp(t, s.Conn(master), name, a, b, b, a))
		noneLeft(t, s.Conn(master), name)
	}
	for i := range 3 {
		for _, code := range []string{"CROSSSLOT", "ERR"} {
			if n := topologytest.Errors(t, s.Conn(i), code); n != 0 {
				t.Errorf("server %d answered %s %d times", i, code, n)
			}
		}
	}
	for _, name := range []string{"a{b", "a}b", "{}a"} {
		if _, err := a.NewFairLock(name).TryLock(t.Context()); !errors.Is(err, rlock.ErrInvalidName) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
