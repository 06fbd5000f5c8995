package topologytest

import (
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
)

// keyOf is a key of one of three masters with equal shares.
func keyOf(master int) string {
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		if int(codec.Slot(key))/(slotCount/3) == master {
			return key
		}
	}
	return ""
}

func TestReplicaTakesOver(t *testing.T) {
	t.Parallel()
	c := StartReplicated(t, 1, 1, 1)
	key := keyOf(0)
	c.do(0, "SET", key, "1")
	c.await("the replica has it", func() bool { return c.do(c.Replica(0), "DBSIZE") == int64(1) })
	c.Failover(c.Replica(0))
	if got := c.text(c.Replica(0), "GET", key); got != "1" {
		t.Errorf("after the planned failover it has %q", got)
	}
	// And back: now the other master dies. A server that never followed it would not be elected.
	c.await("the former master follows", func() bool { return strings.Contains(c.text(0, "INFO", "replication"), "master_link_status:up") })
	c.Servers[c.Replica(0)].Kill()
	c.AwaitMaster(0)
	if got := c.text(0, "GET", key); got != "1" {
		t.Errorf("after the master's death it has %q", got)
	}
}

func TestSlotMovesWhileItsReplicasFollow(t *testing.T) {
	t.Parallel()
	c := StartReplicated(t, 1, 1, 1)
	key := keyOf(0)
	slot := codec.Slot(key)
	c.do(0, "SET", key, "1")
	c.Begin(slot, 0, 1)
	if n := c.MoveKeys(slot, 0, 1, 10); n != 1 {
		t.Fatalf("%d keys moved", n)
	}
	if _, err := c.conns[0].Do("GET", key); err == nil {
		t.Error("its old server still has it")
	}
	c.End(slot, 0, 1)
	if got, err := redis.String(c.conns[1].Do("GET", key)); got != "1" || err != nil {
		t.Errorf("its new server has %q, %v", got, err)
	}
	c.await("the new server's replica has it", func() bool { return c.do(c.Replica(1), "DBSIZE") == int64(1) })
}
