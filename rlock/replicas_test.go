package rlock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// Calls wait for a master that has too few replicas for now, as they wait for one that is loading.
func TestTooFewReplicasAreWaitedOut(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "calls run into their timeouts")
	s := redistest.Start(t)
	conn := s.Dial(t)
	want := func(replicas int) {
		t.Helper()
		if _, err := conn.Do("CONFIG", "SET", "min-replicas-to-write", replicas); err != nil {
			t.Fatal(err)
		}
	}
	refused := func() (count string) {
		t.Helper()
		stats, err := redis.String(conn.Do("INFO", "errorstats"))
		if err != nil {
			t.Fatal(err)
		}
		_, count, _ = strings.Cut(stats, "errorstat_NOREPLICAS:")
		count, _, _ = strings.Cut(count, "\r\n")
		return count
	}
	const timeout = time.Second
	c, err := rlock.Open(t.Context(), s.URL(), rlock.WithCommandTimeout(timeout))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	owner := c.NewOwner()
	sem := c.NewSemaphore("room")
	if _, err := sem.TrySetPermits(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	type hold interface{ Unlock(context.Context) error }
	calls := map[string]func(ctx context.Context) (hold, error){
		"plain":  func(ctx context.Context) (hold, error) { return c.NewLock("plain").Lock(ctx) },
		"within": func(ctx context.Context) (hold, error) { return c.NewLock("within").TryLockFor(ctx, time.Minute) },
		"as":     func(ctx context.Context) (hold, error) { return c.NewLock("as").Lock(ctx, rlock.As(owner)) },
		"fair":   func(ctx context.Context) (hold, error) { return c.NewFairLock("fair").Lock(ctx) },
		"read":   func(ctx context.Context) (hold, error) { return c.NewReadWriteLock("rw").ReadLock().Lock(ctx) },
		"sem":    func(ctx context.Context) (hold, error) { return nil, sem.Acquire(ctx, 1) },
	}
	for name, call := range calls {
		want(1)
		began := time.Now()
		_, err := call(t.Context())
		if took := time.Since(began); !errors.Is(err, rlock.ErrUnavailable) || errors.Is(err, rlock.ErrRefused) || took < timeout {
			t.Errorf("%s: %v after %v", name, err, took)
		}
		granted := make(chan error, 1)
		go func() {
			h, err := call(t.Context())
			if err == nil && h != nil {
				err = h.Unlock(t.Context())
			}
			granted <- err
		}()
		before := refused()
		becomes(t, "it is refused, or granted", func() bool { return refused() != before || len(granted) > 0 })
		want(0)
		if err := <-granted; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	want(1)
	if _, err := c.NewLock("once").TryLock(t.Context()); !errors.Is(err, rlock.ErrUnavailable) {
		t.Error(err)
	}
}
