package rlock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// Permits without an acknowledgement are given back. A change without one returns an error, and
// counts once.
func TestPermitsThatNoReplicaHasAreGivenBack(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a replica is silent for a command timeout")
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	c := openWith(t, s.URL(), rlock.WithReplicaSync(true), rlock.WithCommandTimeout(1500*time.Millisecond))
	seats := c.NewPermitSemaphore("seats")
	if _, err := seats.TrySetPermits(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	rooms, latch := c.NewSemaphore("rooms"), c.NewCountDownLatch("ready")
	if _, err := rooms.TrySetPermits(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if _, err := latch.TrySetCount(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	replica.Pause()
	t.Cleanup(replica.Resume)
	// A replica that has been silent for some seconds counts no longer.
	reports := func() {
		replica.Resume()
		conn := s.Dial(t)
		becomes(t, "the replica reports", func() bool {
			info, err := redis.String(conn.Do("INFO", "replication"))
			return err == nil && strings.Contains(info, "lag=0")
		})
		replica.Pause()
	}
	if p, err := seats.TryAcquire(t.Context(), 2); !errors.Is(err, rlock.ErrUnreplicated) {
		t.Fatalf("%v, %v", p, err)
	}
	if err := seats.AddPermits(t.Context(), 1); !errors.Is(err, rlock.ErrUnreplicated) {
		t.Errorf("added where no replica answers: %v", err)
	}
	if err := rooms.TryAcquire(t.Context(), 2); !errors.Is(err, rlock.ErrUnreplicated) {
		t.Errorf("without owners: %v", err)
	}
	reports()
	if err := rooms.Release(t.Context(), 1); !errors.Is(err, rlock.ErrUnreplicated) {
		t.Errorf("released where no replica answers: %v", err)
	}
	if err := latch.CountDown(t.Context()); !errors.Is(err, rlock.ErrUnreplicated) {
		t.Errorf("counted down where no replica answers: %v", err)
	}
	// What changes nothing has nothing to acknowledge.
	none := strings.Repeat("0", 32)
	for what, err := range map[string]error{
		"ReleaseIDs": seats.ReleaseIDs(t.Context(), none), "SetLease": seats.SetLease(t.Context(), none, time.Minute),
	} {
		if !errors.Is(err, rlock.ErrNotHeld) || errors.Is(err, rlock.ErrUnreplicated) {
			t.Errorf("%s of a permit that is not taken: %v", what, err)
		}
	}
	if did, err := latch.TrySetCount(t.Context(), 3); did || err != nil {
		t.Errorf("set again: %t, %v", did, err)
	}
	replica.Resume()
	becomes(t, "what was taken without owners is given back", func() bool {
		free, err := rooms.Available(t.Context())
		return free == 4 && err == nil
	})
	if n, err := latch.Count(t.Context()); n != 2 || err != nil {
		t.Errorf("a count of %d, %v", n, err)
	}
	becomes(t, "what was granted is given back", func() bool {
		free, err := seats.Available(t.Context())
		total, err2 := seats.Total(t.Context())
		return free == 4 && total == 4 && err == nil && err2 == nil
	})
	p, err := seats.Acquire(t.Context(), 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Release(t.Context()); err != nil {
		t.Error(err)
	}
}
