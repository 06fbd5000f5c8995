package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
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

// sharing makes readers and writers of the clients use one lock until `enough` have entered or ctx ends, and counts them.
// It fails t if a writer was ever in together with another holder.
func sharing(ctx context.Context, t *testing.T, name string, entered *atomic.Int32, enough int32, clients ...*rlock.Client) {
	t.Helper()
	var reading, writing atomic.Int32
	var all sync.WaitGroup
	for i := range 9 {
		rw := clients[i%len(clients)].NewReadWriteLock(name)
		l, in := rw.ReadLock(), &reading
		if i%3 == 0 {
			l, in = rw.WriteLock(), &writing
		}
		all.Go(func() {
			for ctx.Err() == nil && entered.Load() < enough {
				err := l.Do(context.WithoutCancel(ctx), func(context.Context) error {
					entered.Add(1)
					in.Add(1)
					defer in.Add(-1)
					if r, w := reading.Load(), writing.Load(); w > 1 || w == 1 && r > 0 {
						t.Errorf("%d read, %d write", r, w)
					}
					time.Sleep(time.Millisecond)
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestReadWriteLockOfACluster(t *testing.T) {
	t.Parallel()
	s := topologytest.StartReplicated(t, 1, 1, 1)
	a, b := openCluster(t, s), openCluster(t, s)
	for _, name := range []string{"doc", "{tag}doc"} {
		sharing(t.Context(), t, name, new(atomic.Int32), 20, a, b)
		if locked, err := a.NewReadWriteLock(name).ReadLock().IsLocked(t.Context()); locked || err != nil {
			t.Errorf("%v, %v", locked, err)
		}
	}
	for _, name := range []string{"a{b", "a}b{", "{}a"} {
		rw := a.NewReadWriteLock(name)
		for _, l := range []*rlock.Lock{rw.ReadLock(), rw.WriteLock()} {
			if _, err := l.TryLock(t.Context()); !errors.Is(err, rlock.ErrInvalidName) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A lock's keys move with their slot, one by one, while readers and writers come and go. What is held meanwhile stays held.
func TestReadWriteLockSurvivesItsSlotsMove(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a slot moves")
	s := topologytest.Start(t, 1, 1)
	a, b := openCluster(t, s), openCluster(t, s)
	slot := codec.Slot("doc")
	from := 0
	if !s.Has(0, slot) {
		from = 1
	}
	outer := held(t, a.NewReadWriteLock("{doc}held").ReadLock())
	ctx, cancel := context.WithCancel(t.Context())
	var entered atomic.Int32
	var shared sync.WaitGroup
	shared.Go(func() { sharing(ctx, t, "doc", &entered, math.MaxInt32, a, b) })
	defer shared.Wait()
	defer cancel()
	enter := func() {
		t.Helper()
		before := entered.Load()
		becomes(t, "some enter", func() bool { return entered.Load() > before+5 })
	}
	for range 3 {
		enter()
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
	enter()
	cancel()
	shared.Wait()
	if err := errors.Join(outer.Err(), outer.Unlock(t.Context())); err != nil {
		t.Error(err)
	}
}

// A grant that no replica has is given back, with its key.
func TestReadWriteGrantThatNoReplicaHasIsGivenBack(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a replica is silent for a command timeout")
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	conn := s.Dial(t)
	c := openWith(t, s.URL(), rlock.WithReplicaSync(true), rlock.WithCommandTimeout(2500*time.Millisecond)) // two may try before the replica is left out
	rw := c.NewReadWriteLock("doc")
	outer := held(t, rw.WriteLock())
	if h, err := rw.ReadLock().Lock(t.Context(), rlock.As(outer.Owner())); err != nil {
		t.Fatal(err)
	} else if err := errors.Join(h.Unlock(t.Context()), outer.Unlock(t.Context())); err != nil {
		t.Fatal(err)
	}
	replica.Pause()
	t.Cleanup(replica.Resume)
	for name, l := range map[string]*rlock.Lock{"read": rw.ReadLock(), "write": rw.WriteLock()} {
		if h, err := l.TryLock(t.Context()); !errors.Is(err, rlock.ErrUnreplicated) {
			t.Errorf("%s: %v, %v", name, h, err)
		}
	}
	replica.Resume()
	becomes(t, "what was granted is given back", func() bool {
		keys, err := redis.Strings(conn.Do("KEYS", "*doc}*"))
		there, err2 := redis.Int(conn.Do("EXISTS", "doc"))
		return err == nil && err2 == nil && there == 0 && !strings.Contains(fmt.Sprint(keys), "rwlock_timeout")
	})
	for _, l := range []*rlock.Lock{rw.ReadLock(), rw.WriteLock()} {
		if err := held(t, l).Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
