package sentinels_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// TestReleaseThatTheNextMasterLacksIsSentAgain has the replicas keep what they had before the release. One of them becomes
// the master.
func TestReleaseThatTheNextMasterLacksIsSentAgain(t *testing.T) {
	t.Parallel()
	for form, row := range map[string]struct {
		waits bool
		lock  func(*rlock.Client, string) *rlock.Lock
	}{
		"of an owner that is used once": {false, (*rlock.Client).NewLock},
		"that all acknowledged":         {true, (*rlock.Client).NewLock},
		"of a spin lock":                {false, (*rlock.Client).NewSpinLock},
		"of a fenced lock":              {false, (*rlock.Client).NewFencedLock},
	} {
		t.Run(form, func(t *testing.T) {
			set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
			c := testbed.Open(t, set.URL(), rlock.WithReplicaSync(row.waits), rlock.WithWatchdogTimeout(long))
			h := lock(t, row.lock(c, "orders"))
			next := lacks(t, set, "orders", func() error { return h.Unlock(t.Context()) })
			ctx, cancel := context.WithTimeout(t.Context(), farOff)
			defer cancel()
			waiter := testbed.Open(t, set.URL(), rlock.WithReplicaSync(false))
			if err := waiter.NewLock("orders").Do(ctx, func(context.Context) error { return nil }); err != nil {
				t.Error(err)
			}
			if n, err := redis.Int(next.Dial(t).Do("EXISTS", "orders")); n != 0 || err != nil {
				t.Errorf("it is there: %d, %v", n, err)
			}
		})
	}
}

// TestReleaseOfOneHoldOfSeveralIsSentAgain shows that the other hold stays, and nothing else.
func TestReleaseOfOneHoldOfSeveralIsSentAgain(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	c := testbed.Open(t, set.URL(), rlock.WithReplicaSync(false), rlock.WithWatchdogTimeout(long))
	l := c.NewLock("orders")
	h := lock(t, l)
	inner := lock(t, l, rlock.As(h.Owner()))
	next := lacks(t, set, "orders", func() error { return inner.Unlock(t.Context()) })
	conn := next.Dial(t)
	testbed.BecomesWithin(t, farOff, "held once", func() bool {
		counts, err := redis.Ints(conn.Do("HVALS", "orders"))
		return err == nil && len(counts) == 1 && counts[0] == 1
	})
	if err := h.Err(); err != nil {
		t.Errorf("the other hold: %v", err)
	}
	unlock(t, h)
	if n, err := redis.Int(conn.Do("EXISTS", "orders")); n != 0 || err != nil {
		t.Errorf("it is there: %d, %v", n, err)
	}
}

// lacks makes a server the master that lacks what release did: the replicas get back what they had before it, and nothing
// else, whatever they acknowledged.
func lacks(t *testing.T, set *redistest.SentinelSet, name string, release func() error) (next *redistest.Server) {
	t.Helper()
	former := set.Master()
	had := map[*redistest.Server]map[string]string{} // by key
	for _, n := range set.Nodes {
		if n == former {
			continue
		}
		conn := n.Dial(t)
		testbed.BecomesWithin(t, farOff, "on each replica", func() bool {
			_, err := redis.String(conn.Do("DUMP", name))
			return err == nil
		})
		keys, err := redis.Strings(conn.Do("KEYS", "*"))
		testbed.Must(t, err)
		had[n] = map[string]string{}
		for _, key := range keys {
			switch dump, err := redis.String(conn.Do("DUMP", key)); err {
			case nil:
				had[n][key] = dump
			case redis.ErrNil: // a receipt that is deleted meanwhile
			default:
				t.Fatal(err)
			}
		}
		testbed.Do(t, conn, "CONFIG", "SET", "replica-read-only", "no")
	}
	testbed.Must(t, release())
	conn := former.Dial(t)
	testbed.Do(t, conn, "SET", "behind it", 1)
	testbed.BecomesWithin(t, farOff, "the replicas have what it did", func() bool {
		n, err := redis.Int(conn.Do("WAIT", len(had), 100))
		return err == nil && n == len(had)
	})
	for n, dumps := range had {
		conn := n.Dial(t)
		testbed.Do(t, conn, "FLUSHALL")
		for key, dump := range dumps {
			testbed.Do(t, conn, "RESTORE", key, long.Milliseconds(), dump)
		}
	}
	set.AwaitSettled()
	set.Failover(set.Sentinels[0])
	return set.AwaitMaster(former)
}

// TestAtLeastEndsInTimeBehindAFailover: a release with AtLeast that the next master lacks is sent again, and the lock stays
// taken there for the rest of the time, and no longer.
func TestAtLeastEndsInTimeBehindAFailover(t *testing.T) {
	t.Parallel()
	const atLeast = 20 * time.Second
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	c := testbed.Open(t, set.URL(), rlock.WithWatchdogTimeout(long))
	began := time.Now()
	h := lock(t, c.NewLock("tick"), rlock.AtLeast(atLeast))
	next := lacks(t, set, "tick", func() error { return h.Unlock(t.Context()) })
	conn := next.Dial(t)
	testbed.Becomes(t, "released there", func() bool {
		there, err := redis.Bool(conn.Do("HEXISTS", "tick", testbed.Holder(h))) // nobody else may act as the owner
		return err == nil && !there
	})
	left, err := redis.Int64(conn.Do("PTTL", "tick"))
	if err != nil || left > atLeast.Milliseconds() || left <= 0 && time.Since(began) < atLeast {
		t.Errorf("it is taken for %d ms more, %v after it was acquired: %v", left, time.Since(began), err)
	}
	if _, err := c.NewLock("tick").TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) && time.Since(began) < atLeast {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	again := lock(t, c.NewLock("tick"))
	if took := time.Since(began); took < atLeast {
		t.Errorf("entered after %v", took)
	}
	unlock(t, again)
}

// TestCountThatTheNextMasterLacksIsSentAgain: permits of a semaphore and a latch's count have no lease, so the next master
// lacks a change for ever unless it is sent again.
func TestCountThatTheNextMasterLacksIsSentAgain(t *testing.T) {
	t.Parallel()
	t.Run("permits that are kept", func(t *testing.T) {
		set, s := seats(t)
		next := lacks(t, set, "seats", func() error { return s.Acquire(t.Context(), 2) })
		counts(t, next, "seats", 1)
	})
	t.Run("permits that were taken and given back", func(t *testing.T) {
		set, s := seats(t)
		next := lacks(t, set, "seats", func() error { return s.Do(t.Context(), 2, func(context.Context) error { return nil }) })
		conn := next.Dial(t)
		testbed.Becomes(t, "both were sent again", func() bool {
			keys, err := redis.Strings(conn.Do("KEYS", "*"))
			return err == nil && len(keys) >= 4 // the semaphore, that it was set, and two receipts
		})
		counts(t, next, "seats", 3)
	})
	t.Run("semaphore", func(t *testing.T) {
		set, s := seats(t)
		testbed.Must(t, s.Acquire(t.Context(), 2))
		next := lacks(t, set, "seats", func() error { return s.Release(t.Context(), 2) })
		counts(t, next, "seats", 3)
	})
	t.Run("latch", func(t *testing.T) {
		set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
		l := testbed.Open(t, set.URL()).NewCountDownLatch("started")
		if _, err := l.TrySetCount(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		next := lacks(t, set, "started", func() error { return l.CountDown(t.Context()) })
		counts(t, next, "started", 2)
	})
}

// seats is a semaphore of three permits behind Sentinels.
func seats(t *testing.T) (*redistest.SentinelSet, *rlock.Semaphore) {
	t.Helper()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	s := testbed.Open(t, set.URL()).NewSemaphore("seats")
	if _, err := s.TrySetPermits(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	return set, s
}

func counts(t *testing.T, s *redistest.Server, key string, want int) {
	t.Helper()
	conn := s.Dial(t)
	testbed.Becomes(t, "the number is right", func() bool {
		n, err := redis.Int(conn.Do("GET", key))
		return err == nil && n == want
	})
}
