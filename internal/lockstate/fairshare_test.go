package lockstate

import (
	"errors"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/wakepolicy"
)

func TestListeners(t *testing.T) {
	t.Parallel()
	if n, err := core.Listeners([]any{[]byte("channel"), int64(3)}, nil); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	refused := redis.Error("NOPERM this user has no permissions")
	if _, err := core.Listeners(nil, refused); !errors.Is(err, refused) {
		t.Errorf("a refusal is told as %v", err)
	}
	for what, reply := range map[string]any{"no pair": []any{[]byte("channel")}, "no array": int64(3), "no number": []any{[]byte("channel"), []byte("many")}} {
		if n, err := core.Listeners(reply, nil); err == nil {
			t.Errorf("%s: %d", what, n)
		}
	}
}

// A server that refuses connections for a while has not refused to count subscribers, so the client goes on asking.
func TestRefusedConnectionIsNoRefusalToCount(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--requirepass", "secret")
	c := open(t, s)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	acquire(t, &l)
	admin := s.Dial(t)
	for _, command := range [][]any{{"CONFIG", "SET", "requirepass", "another"}, {"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"}} {
		if _, err := admin.Do(command[0].(string), command[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	// The first read may still be written to the killed connection; for the second one no connection is to be had.
	for range 2 {
		sh := c.shard(l.Name())
		asked := new(wakepolicy.FairShare)
		asked.Granted(time.Hour)
		asked.Released(time.Hour, true)
		asked.Granted(time.Hour)
		if !asked.CountDue(time.Hour) {
			t.Fatal("no count is due")
		}
		sec := sh.Enter(section.MustNotBlock)
		sh.find(&l).fairShare = asked
		sh.find(&l).countClients(&l, true)
		sec.Leave()
		for deadline := time.Now().Add(5 * soon); ; time.Sleep(time.Millisecond) {
			sec := sh.Enter(section.MustNotBlock)
			answered := asked.CountDue(time.Hour)
			if answered {
				asked.CountFailed() // here no count is made
			}
			sec.Leave()
			if answered && c.Exec.Trouble(0) != nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the read has no end")
			}
		}
	}
	if c.noClientCounts.Load() {
		t.Error("it asks no more")
	}
}
