package rlock_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// clusterSeats sets n permits in a cluster, and returns which server has them.
func clusterSeats(t *testing.T, s *topologytest.Cluster, c *rlock.Client, n int) (seats *rlock.PermitSemaphore, server int) {
	t.Helper()
	seats = c.NewPermitSemaphore("seats")
	if first, err := seats.TrySetPermits(t.Context(), n); !first || err != nil {
		t.Fatalf("to set the permits: %v, %v", first, err)
	}
	return seats, s.MasterOf(codec.Slot("seats"))
}

// movesUnder moves the slot of a name to the next server and back, while two clients are subscribed.
func movesUnder(t *testing.T, s *topologytest.Cluster, from int, name, channel string) {
	t.Helper()
	listen := func(server int) func() bool {
		return func() bool {
			n, err := redis.Values(s.Conn(server).Do("PUBSUB", "NUMSUB", channel))
			if err != nil {
				t.Fatal(err)
			}
			return n[1] == int64(2)
		}
	}
	becomes(t, "both listen", listen(from))
	for range 2 {
		s.Move(from, 1-from, codec.Slot(name))
		from = 1 - from
		becomes(t, "both listen at the next server", listen(from))
	}
}

// The permits and their times move with the slot. Waiters subscribe at the next server, and taken permits stay taken.
func TestWaitersForPermitsFollowTheirSlot(t *testing.T) {
	t.Parallel()
	s := topologytest.Start(t, 1, 1)
	a, b := openCluster(t, s), openCluster(t, s)
	seats, from := clusterSeats(t, s, a, 2)
	two, err := seats.Acquire(t.Context(), 2, rlock.Lease(10*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	entered := make(chan *rlock.Permits, 2)
	for _, c := range []*rlock.Client{a, b} {
		go func() {
			p, err := c.NewPermitSemaphore("seats").Acquire(t.Context(), 1)
			if err != nil {
				t.Error(err)
			}
			entered <- p
		}()
	}
	movesUnder(t, s, from, "seats", codec.PermitChannel("seats"))
	if err := errors.Join(two.Err(), two.Release(t.Context())); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		select {
		case p := <-entered:
			if err := p.Release(t.Context()); err != nil {
				t.Error(err)
			}
		case <-time.After(soonEnough):
			t.Fatal("somebody still waits")
		}
	}
}

// A semaphore's keys move with their slot, one by one, while permits come and go. Never are more taken than exist, and none
// is lost.
func TestPermitsSurviveTheirSlotsMove(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a slot moves")
	s := topologytest.Start(t, 1, 1)
	a, b := openCluster(t, s), openCluster(t, s)
	const all = 4
	seats, from := clusterSeats(t, s, a, all)
	kept, err := seats.Acquire(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var inside, entered atomic.Int32
	var working sync.WaitGroup
	for i := range 9 {
		sem, n := []*rlock.Client{a, b}[i%2].NewPermitSemaphore("seats"), 1+i%3
		working.Go(func() {
			for ctx.Err() == nil {
				err := sem.Do(t.Context(), n, func(context.Context) error {
					if now := inside.Add(int32(n)); now > all-1 {
						t.Errorf("%d permits are taken at once, beside one that is kept", now)
					}
					entered.Add(1)
					time.Sleep(time.Millisecond)
					inside.Add(int32(-n))
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	slot := codec.Slot("seats")
	for range 3 {
		before := entered.Load()
		becomes(t, "some enter", func() bool { return entered.Load() > before+5 })
		s.Begin(slot, from, 1-from)
		for range 20 {
			s.MoveKeys(slot, from, 1-from, 1)
			time.Sleep(5 * time.Millisecond)
		}
		for s.MoveKeys(slot, from, 1-from, 100) > 0 {
		}
		s.End(slot, from, 1-from)
		from = 1 - from
	}
	before := entered.Load()
	becomes(t, "some enter", func() bool { return entered.Load() > before+5 })
	cancel()
	working.Wait()
	if free, err := seats.Available(t.Context()); free != all-1 || err != nil {
		t.Errorf("%d are free, %v", free, err)
	}
	if err := errors.Join(kept.Err(), kept.Release(t.Context())); err != nil {
		t.Error(err)
	}
	if total, err := seats.Total(t.Context()); total != all || err != nil {
		t.Errorf("there are %d, %v", total, err)
	}
}
