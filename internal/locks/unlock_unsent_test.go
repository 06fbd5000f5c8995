package locks

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// The connection is lost and the next one is not ready, so the unlock waits to be written. Its
// caller, whose context has ended, learns that nothing was sent. The unlock is sent later.
func TestUnlockThatIsNotWrittenIsNotUncertain(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	o := config()
	o.Timeout = timeout
	c := openWith(t, s, o)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := mustAcquire(t, &l)
	s.Pause()
	defer s.Resume()
	if _, err := c.Query(t.Context(), l.slot, kind.Read("TYPE", "orders")); err == nil {
		t.Fatal("the server answered")
	}
	redistest.Becomes(t, "an attempt to connect anew fails", func() bool {
		_, _ = c.Query(t.Context(), l.slot, kind.Read("TYPE", "orders"))
		return c.exec.Trouble(l.slot) != nil
	})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Unlock(ctx, h); err == nil || errors.Is(err, ErrUncertain) {
		t.Errorf("nothing of it was sent, and it says %v", err)
	}
	s.Resume()
	conn := s.Dial(t)
	becomes(t, conn, 0, "EXISTS", "orders")
}

// Unlocks wait behind an open command for longer than their callers. They are sent all the same, and the last one leaves
// nothing.
func TestUnlockThatWaitedTooLongIsMadeUpForByTheNext(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	o := config()
	o.Timeout = timeout
	c := openWith(t, s, o)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	as := Terms{As: true, Owner: c.NewOwner(), Lease: 10 * time.Minute}
	outer, inner, left := acquireAs(t, &l, as), acquireAs(t, &l, as), acquireAs(t, &l, as)
	s.Pause()
	defer s.Resume()
	if err := Extend(t.Context(), outer, as.Lease); !errors.Is(err, ErrUncertain) {
		t.Fatal(err)
	}
	if err := Unlock(t.Context(), inner); !command.Unavailable(err) || errors.Is(err, ErrUncertain) || !strings.Contains(err.Error(), "an earlier command") {
		t.Fatal(err)
	}
	leaves, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Unlock(leaves, left); !command.Unavailable(err) || errors.Is(err, ErrUncertain) {
		t.Fatalf("its caller left: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- Unlock(context.Background(), outer) }()
	redistest.Becomes(t, "all unlocks wait", func() bool {
		_, queued := outer.OwnerSnapshot()
		return queued == 3
	})
	s.Resume()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	becomes(t, s.Dial(t), 0, "EXISTS", "orders")
}

// The caller of an UnlockAs leaves while the server refuses it, and learns that nothing has run. It may try again, so the
// first one must not run later and release another hold of that owner.
func TestUnlockAsIsNotSentAfterItsCallerHasLeft(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	o := config()
	o.Timeout = timeout
	c := openWith(t, s, o)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	conn := s.Dial(t)
	of := c.NewOwner()
	do(t, conn, "HSET", "orders", of.String(), 2)
	do(t, conn, "CONFIG", "SET", "min-replicas-to-write", 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := UnlockAs(ctx, &l, of); err == nil || errors.Is(err, ErrUncertain) || !strings.Contains(err.Error(), "not released: NOREPLICAS") {
		t.Error(err)
	}
	do(t, conn, "CONFIG", "SET", "min-replicas-to-write", 0)
	redistest.Becomes(t, "it has ended", func() bool { return !l.Snapshot().Known })
	if n := do(t, conn, "HGET", "orders", of.String()); string(n.([]byte)) != "2" {
		t.Errorf("of 2 holds %s are left", n)
	}
}
