package rlock_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

func noCrossSlot(t *testing.T, s *topologytest.Cluster) {
	t.Helper()
	for i := range 3 {
		if n := topologytest.Errors(t, s.Conn(i), "CROSSSLOT"); n != 0 {
			t.Errorf("server %d answered CROSSSLOT %d times", i, n)
		}
	}
}

func TestNameWhoseKeysAClusterWouldScatterIsRefused(t *testing.T) {
	t.Parallel()
	s := topologytest.StartReplicated(t, 1, 1, 1)
	c := openCluster(t, s)
	refused := func(what, name string, err error) {
		t.Helper()
		if !errors.Is(err, rlock.ErrInvalidName) || !strings.Contains(err.Error(), fmt.Sprint("slot ", codec.Slot(name))) {
			t.Errorf("%s %s: %v", what, name, err)
		}
	}
	ctx := t.Context()
	for _, name := range []string{"a{b", "a}b{", "{}a", "}b{c"} {
		rw := c.NewReadWriteLock(name)
		for what, l := range map[string]*rlock.Lock{
			"plain": c.NewLock(name), "spin": c.NewSpinLock(name), "fenced": c.NewFencedLock(name), "fair": c.NewFairLock(name),
			"non-reentrant": c.NewNonReentrantLock(name), "read": rw.ReadLock(), "write": rw.WriteLock(),
		} {
			_, err := l.TryLock(ctx)
			refused(what, name, err)
			_, err = rlock.NewMultiLock(c.NewLock("ab"), l).TryLock(ctx)
			refused("several, the last "+what, name, err)
		}
		_, err := c.NewPermitSemaphore(name).TryAcquire(ctx, 1)
		refused("permits", name, err)
		refused("a semaphore", name, c.NewSemaphore(name).TryAcquire(ctx, 1))
	}
	// A latch's channel puts braces around any name.
	for _, name := range []string{"a}b", "x{t}y", "{a}b{", "{}a"} {
		_, err := c.NewCountDownLatch(name).TrySetCount(ctx, 1)
		refused("a latch", name, err)
	}
	noCrossSlot(t, s)
	for i, l := range []*rlock.Lock{c.NewLock("{a}b{"), c.NewSpinLock("{a}b{"), c.NewFencedLock("{a}b{"), c.NewFencedLock("ab")} {
		if h, err := l.TryLock(t.Context()); err != nil {
			t.Error(i, err)
		} else if err := h.Unlock(t.Context()); err != nil {
			t.Error(i, err)
		}
	}
}
