package javakinds

import (
	"errors"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// mapped are releases that make names differently where a NameMapper is used, one of each era.
func mapped() []string {
	if *full {
		return []string{"3.15.4", "3.16.8", "3.19.0", "3.19.1", "3.20.0", "3.20.1", "3.21.3", "3.27.2", "3.37.0", "3.51.0", "3.52.0", "4.3.0", javapeer.Newest}
	}
	return []string{"3.16.8", "3.20.0", "3.37.0", javapeer.Newest}
}

const mapsTo = "app:"

type mapper struct{}

func (mapper) Map(name string) string { return mapsTo + name }

// TestBesideAMapper: with a NameMapper on both sides, and WithRedisson, both sides' waiters are in one queue, writers and readers
// keep each other out, and permits are in one set.
func TestBesideAMapper(t *testing.T) {
	t.Parallel()
	javapeer.Beside(t, mapped(), func(t *testing.T, release string) {
		b := besideMapper(t, release, rlock.WithRedisson(release))
		t.Run("fair", b.fair)
		t.Run("read-write", b.readWrite)
		t.Run("permits", b.permits)
	})
}

type mappedPair struct {
	conn redis.Conn
	java *javapeer.Peer
	c    *rlock.Client
}

func besideMapper(t *testing.T, release string, opts ...rlock.Option) mappedPair {
	server := redisserver.Local(t)
	bed := testbed.New(t, server)
	return mappedPair{
		server.Dial(t), javapeer.Start(t, release, server.Addr(), javapeer.NamePrefix(mapsTo)),
		bed.Open(server.URL(), append(opts, rlock.WithNameMapper(mapper{}))...),
	}
}

// keys are the keys that match a pattern.
func (b mappedPair) keys(t *testing.T, pattern string, want int) {
	t.Helper()
	if keys, err := redis.Strings(b.conn.Do("KEYS", pattern)); err != nil || len(keys) != want {
		t.Errorf("%q are %q, want %d; %v", pattern, keys, want, err)
	}
}

// free waits until nothing is left. The last unlock's latch goes a moment later.
func (b mappedPair) free(t *testing.T) {
	t.Helper()
	testbed.Becomes(t, "no key is left", func() bool { n, err := redis.Int(b.conn.Do("DBSIZE")); return n == 0 && err == nil })
}

// fair: a waiter in Java stands between two in Go, and each is woken by the release before it. The leases are too long for their
// ends to wake one.
func (b mappedPair) fair(t *testing.T) {
	ctx := t.Context()
	l, t1 := b.c.NewFairLock("orders"), b.java.Thread("t1").Of(javapeer.Fair)
	waiting := func(n int) {
		t.Helper()
		testbed.Becomes(t, "they wait", func() bool {
			info, err := l.Info(ctx)
			return err == nil && info.Waiters == n
		})
	}
	const lease = time.Hour
	h, err := l.Lock(ctx, rlock.Lease(lease))
	testbed.Must(t, err)
	inJava := make(chan error, 1)
	go func() { _, err := t1.Lock(ctx, "orders", lease); inJava <- err }()
	waiting(1)
	second := testbed.Enter(ctx, l, rlock.Lease(lease))
	waiting(2)
	b.keys(t, "redisson_lock_queue:*", 1)
	b.keys(t, "redisson_lock_timeout:*", 1)
	testbed.Must(t, h.Unlock(ctx))
	testbed.Must(t, testbed.Receive(t, "Java enters", inJava))
	if _, err := t1.Unlock(ctx, "orders"); err != nil {
		t.Fatal(err)
	}
	e := testbed.Receive(t, "Go enters", second)
	testbed.Must(t, e.Err)
	testbed.Must(t, e.Hold.Unlock(ctx))
	b.free(t)
}

// readWrite: each side's writer keeps the other's readers and writers out.
func (b mappedPair) readWrite(t *testing.T) {
	ctx := t.Context()
	rw, t1 := b.c.NewReadWriteLock("doc"), b.java.Thread("t1")
	if _, err := t1.Of(javapeer.Write).Lock(ctx, "doc", javapeer.Watchdog); err != nil {
		t.Fatal(err)
	}
	for what, l := range map[string]*rlock.Lock{"reads": rw.ReadLock(), "writes": rw.WriteLock()} {
		if _, err := l.TryLock(ctx); !errors.Is(err, rlock.ErrLocked) {
			t.Errorf("Go %s while Java writes: %v", what, err)
		}
	}
	reader := testbed.Enter(ctx, rw.ReadLock())
	if _, err := t1.Of(javapeer.Write).Unlock(ctx, "doc"); err != nil {
		t.Fatal(err)
	}
	e := testbed.Receive(t, "Go reads", reader)
	testbed.Must(t, e.Err)
	if r, err := t1.Of(javapeer.Write).TryLock(ctx, "doc"); err != nil || r.Bool() {
		t.Errorf("Java writes while Go reads: %v, %v", r, err)
	}
	testbed.Must(t, e.Hold.Unlock(ctx))
	b.free(t)
}

// permits: what either takes is in one set, and is counted by both.
func (b mappedPair) permits(t *testing.T) {
	ctx := t.Context()
	s, t1 := b.c.NewPermitSemaphore("seats"), b.java.Thread("t1").Of("permits")
	if first, err := s.TrySetPermits(ctx, 3); !first || err != nil {
		t.Fatal(first, err)
	}
	id, err := t1.Call(ctx, "seats", "acquire", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.TryAcquire(ctx, 1)
	testbed.Must(t, err)
	if n, err := s.Acquired(ctx); n != 2 || err != nil {
		t.Errorf("%d permits are taken, want 2; %v", n, err)
	}
	b.keys(t, "*:timeout", 1)
	testbed.Must(t, p.Release(ctx))
	testbed.Must(t, s.ReleaseIDs(ctx, id.Text()))
	if n, err := s.Available(ctx); n != 3 || err != nil {
		t.Errorf("%d permits are free, want 3; %v", n, err)
	}
}

// TestOptionWithoutAMapperChangesNoName: all releases make the same names then.
func TestOptionWithoutAMapperChangesNoName(t *testing.T) {
	t.Parallel()
	server := redisserver.Local(t)
	bed := testbed.New(t, server)
	ctx, conn := t.Context(), server.Dial(t)
	var before []string
	for _, release := range []string{javapeer.Newest, "3.52.0", "3.37.0", "3.20.0", "3.16.8", "3.11.6"} {
		c := bed.Open(server.URL(), rlock.WithRedisson(release))
		h, err := c.NewFairLock("orders").Lock(ctx)
		testbed.Must(t, err)
		waiter := testbed.Enter(ctx, c.NewFairLock("orders"))
		testbed.Becomes(t, "it waits", func() bool {
			n, err := redis.Int(conn.Do("LLEN", "redisson_lock_queue:{orders}"))
			return n == 1 && err == nil
		})
		w, err := c.NewReadWriteLock("doc").WriteLock().Lock(ctx)
		testbed.Must(t, err)
		_, err = c.NewPermitSemaphore("seats").TrySetPermits(ctx, 3)
		testbed.Must(t, err)
		p, err := c.NewPermitSemaphore("seats").TryAcquire(ctx, 1)
		testbed.Must(t, err)
		keys, err := redis.Strings(conn.Do("KEYS", "*"))
		testbed.Must(t, err)
		if before != nil && len(keys) != len(before) {
			t.Errorf("%s: %q, want %q", release, keys, before)
		}
		before = keys
		for _, done := range []func() error{func() error { return h.Unlock(ctx) }, func() error { return testbed.Receive(t, "it enters", waiter).Hold.Unlock(ctx) },
			func() error { return w.Unlock(ctx) }, func() error { return p.Release(ctx) }} {
			testbed.Must(t, done())
		}
	}
	for _, release := range []string{"", "3", "3.37", "3.37.0.1", "3.x.0", "three", "-3.1.0", "3.37.0-SNAPSHOT"} {
		if _, err := rlock.Open(ctx, server.URL(), rlock.WithRedisson(release)); !errors.Is(err, rlock.ErrInvalidOption) {
			t.Errorf("%q: %v", release, err)
		}
	}
}
