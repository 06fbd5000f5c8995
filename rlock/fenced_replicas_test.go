package rlock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// A grant that no replica acknowledged is given back. Its token is used up.
func TestTokenOfAGrantThatNoReplicaHasIsUsedUp(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a replica is silent for a command timeout")
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	c := openWith(t, s.URL(), rlock.WithReplicaSync(true), rlock.WithCommandTimeout(1500*time.Millisecond))
	l := c.NewFencedLock("orders")
	replica.Pause()
	t.Cleanup(replica.Resume)
	if h, err := l.TryLock(t.Context()); !errors.Is(err, rlock.ErrUnreplicated) {
		t.Fatalf("%v, %v", h, err)
	}
	used, err := l.LastToken(t.Context())
	if err != nil || used < 1 {
		t.Fatalf("%d tokens are used up, %v", used, err)
	}
	replica.Resume()
	becomes(t, "what was granted is given back", func() bool {
		locked, err := l.IsLocked(t.Context())
		return err == nil && !locked
	})
	h, err := l.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if h.Token() <= used {
		t.Errorf("token %d, after %d were used up", h.Token(), used)
	}
	if err := h.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}

// One of two replicas is silent, and may be the next master. A lock ends with its lease, a token or permit does
// not.
func TestGrantThatCountsNeedsAllReplicas(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a replica is silent for some command timeouts")
	s := redistest.Start(t)
	s.StartReplica(t)
	silent := s.StartReplica(t)
	c := openWith(t, s.URL(), rlock.WithReplicaSync(true), rlock.WithCommandTimeout(1500*time.Millisecond))
	room := c.NewSemaphore("room")
	if _, err := room.TrySetPermits(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	fenced := c.NewFencedLock("orders")
	calls := map[string]func() error{
		"plain": func() error { return c.NewLock("plain").Do(t.Context(), func(context.Context) error { return nil }) },
		"fenced": func() error {
			h, err := fenced.TryLock(t.Context())
			if err == nil {
				err = h.Unlock(t.Context())
			}
			return err
		},
		"semaphore": func() error {
			err := room.TryAcquire(t.Context(), 1)
			if err == nil {
				err = room.Release(t.Context(), 1)
			}
			return err
		},
	}
	for name, call := range calls {
		if err := call(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	silent.Pause()
	t.Cleanup(silent.Resume)
	for name, call := range calls {
		err := call()
		if counts := name != "plain"; counts != errors.Is(err, rlock.ErrUnreplicated) || counts && !strings.Contains(err.Error(), "1 of 2 replicas") {
			t.Errorf("%s: %v", name, err)
		}
	}
	silent.Resume()
	for name, call := range calls {
		becomes(t, name+" is granted again", func() bool { return call() == nil })
	}
	becomes(t, "nothing is left of what was not granted", func() bool {
		free, err := room.Available(t.Context())
		return err == nil && free == 3
	})
}
