package rlock_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

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
