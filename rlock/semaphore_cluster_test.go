package rlock_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// The slots of a semaphore and of a latch move while callers wait, and both are changed while their keys migrate. The
// waiters get through, and each change counts once.
func TestWaitersForNumbersFollowTheirSlots(t *testing.T) {
	t.Parallel()
	s := topologytest.Start(t, 1, 1)
	clients := []*rlock.Client{openCluster(t, s), openCluster(t, s)}
	sem, latch := clients[0].NewSemaphore("seats"), clients[1].NewCountDownLatch("ready")
	first, err := sem.TrySetPermits(t.Context(), 0)
	set, err2 := latch.TrySetCount(t.Context(), 3)
	if err := errors.Join(err, err2); !first || !set || err != nil {
		t.Fatal(first, set, err)
	}
	var waiting [2]chan error
	for i := range waiting {
		waiting[i] = make(chan error, 2)
	}
	for _, c := range clients {
		go func() { waiting[0] <- c.NewSemaphore("seats").Acquire(t.Context(), 2) }()
		go func() { waiting[1] <- c.NewCountDownLatch("ready").Await(t.Context()) }()
	}
	through := func(what string, waits <-chan error) {
		t.Helper()
		select {
		case err := <-waits:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(soonEnough):
			t.Fatalf("somebody still waits for %s", what)
		}
	}
	// on runs do twice while the slot is half migrated, when servers reply TRYAGAIN, and waits for both.
	on := func(name string, do func() error) {
		t.Helper()
		slot, from := codec.Slot(name), s.MasterOf(codec.Slot(name))
		movesUnder(t, s, from, name, map[string]string{"seats": codec.PermitChannel(name), "ready": codec.CountDownChannel(name)}[name])
		s.Begin(slot, from, 1-from)
		done := make(chan error, 2)
		for range cap(done) {
			go func() { done <- do() }()
		}
		becomes(t, "both are told to try again", func() bool {
			return topologytest.Errors(t, s.Conn(from), "TRYAGAIN") >= cap(done)
		})
		s.MoveKeys(slot, from, 1-from, 100)
		s.End(slot, from, 1-from)
		if err := errors.Join(<-done, <-done); err != nil {
			t.Error(err)
		}
	}
	release := func() error { return sem.Release(t.Context(), 1) }
	on("seats", release)
	through("the first permits", waiting[0])
	if n, err := sem.Available(t.Context()); n != 0 || err != nil {
		t.Errorf("%d are free, %v; want 0", n, err)
	}
	if err := sem.Release(t.Context(), 3); err != nil {
		t.Error(err)
	}
	through("permits", waiting[0])
	if n, err := sem.Available(t.Context()); n != 1 || err != nil {
		t.Errorf("%d are free, %v; want 1", n, err)
	}
	down := func() error { return latch.CountDown(t.Context()) }
	on("ready", down)
	if n, err := latch.Count(t.Context()); n != 1 || err != nil {
		t.Errorf("the count is %d, %v; want 1", n, err)
	}
	if err := down(); err != nil {
		t.Error(err)
	}
	through("the latch", waiting[1])
	through("the latch", waiting[1])
}
