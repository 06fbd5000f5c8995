package locks

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/waitqueue"
)

// A server that refuses connections for a while has not refused to count subscribers, so the client goes on asking.
func TestRefusedConnectionIsNoRefusalToCount(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--requirepass", "secret")
	n := newName(t, s.URL())
	c := n.lock.Client
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	if _, err := c.Query(t.Context(), 0, kind.Read("PING")); err != nil {
		t.Fatal(err)
	}
	admin := s.Dial(t)
	for _, command := range [][]any{{"CONFIG", "SET", "requirepass", "another"}, {"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"}} {
		if _, err := admin.Do(command[0].(string), command[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	// The first read may still be written to the killed connection; for the second one no connection is to be had.
	for range 2 {
		asked := new(waitqueue.FairShare)
		asked.Granted(time.Hour)
		asked.Released(time.Hour, true)
		asked.Granted(time.Hour)
		if !asked.CountDue(time.Hour) {
			t.Fatal("no count is due")
		}
		sec := n.lock.shard.enter(mustNotBlock)
		n.fairShare = asked
		n.countClients(&l, true)
		sec.leave()
		redistest.Becomes(t, "the read has ended", func() bool {
			defer n.lock.shard.enter(mustNotBlock).leave()
			answered := asked.CountDue(time.Hour)
			if answered {
				asked.CountFailed() // here no count is made
			}
			return answered && c.exec.Trouble(0) != nil
		})
	}
	if c.noClientCounts.Load() {
		t.Error("it asks no more")
	}
}
