package javakinds

import (
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// Redisson's non-reentrant fair lock and Go's fair lock keep each other out, and wait in one queue. The leases are too long for
// their ends to wake anybody.
func TestNonReentrantFairLockIsGosFairLock(t *testing.T) {
	t.Parallel()
	const lease = time.Hour
	server, ctx := redisserver.Local(t), t.Context()
	java := javapeer.Start(t, javapeer.Newest, server.Addr())
	l := testbed.New(t, server).Open(server.URL()).NewFairLock("orders")
	t1, t2 := java.Thread("t1").Of(javapeer.NonReentrantFair), java.Thread("t2").Of(javapeer.NonReentrantFair)
	waiting := func(n int) {
		t.Helper()
		testbed.Becomes(t, "they wait", func() bool {
			info, err := l.Info(ctx)
			return err == nil && info.Waiters == n
		})
	}
	if _, err := t1.Lock(ctx, "orders", lease); err != nil {
		t.Fatal(err)
	}
	if r, err := t1.TryLock(ctx, "orders"); !errors.As(err, new(*javapeer.JavaError)) {
		t.Errorf("Java enters again: %v, %v", r, err)
	}
	if _, err := l.TryLock(ctx); !errors.Is(err, rlock.ErrLocked) {
		t.Errorf("Go beside Java: %v", err)
	}
	entered := testbed.Enter(ctx, l, rlock.Lease(lease))
	waiting(1)
	inJava := make(chan error, 1)
	go func() { _, err := t2.Lock(ctx, "orders", lease); inJava <- err }()
	waiting(2)
	if _, err := t1.Unlock(ctx, "orders"); err != nil {
		t.Fatal(err)
	}
	e := testbed.Receive(t, "Go enters", entered)
	testbed.Must(t, e.Err)
	select {
	case err := <-inJava:
		t.Errorf("Java beside Go: %v", err)
	default:
	}
	testbed.Must(t, e.Hold.Unlock(ctx))
	testbed.Must(t, testbed.Receive(t, "Java enters", inJava))
	if _, err := t2.Unlock(ctx, "orders"); err != nil {
		t.Fatal(err)
	}
}
