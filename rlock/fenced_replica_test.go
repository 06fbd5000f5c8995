package rlock_test

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// A grant that no replica has is given back. Its token is used up.
func TestTokenOfAGrantThatNoReplicaHasIsUsedUp(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a replica is silent for a command timeout")
	s := redistest.Start(t, "--repl-diskless-sync-delay", "0")
	host, port, _ := net.SplitHostPort(s.Addr())
	replica := redistest.Start(t, "--replicaof", host+" "+port)
	conn := s.Dial(t)
	becomes(t, "the replica follows", func() bool {
		text, err := redis.String(conn.Do("INFO", "replication"))
		return err == nil && strings.Contains(text, "state=online")
	})
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
