package luasrc

import (
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// A cluster of one node refuses a script whose keys are in several slots, as any cluster does.
func TestClusterTakesTheNamesThatAreSlotSafe(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a server of a cluster waits for two seconds before it serves")
	s := redistest.Start(t, "--cluster-enabled", "yes")
	conn := s.Dial(t)
	if _, err := conn.Do("CLUSTER", "ADDSLOTSRANGE", 0, 16383); err != nil {
		t.Fatal(err)
	}
	redistest.Becomes(t, "it is a cluster", func() bool {
		info, err := redis.String(conn.Do("CLUSTER", "INFO"))
		return err == nil && strings.Contains(info, "cluster_state:ok")
	})
	for _, script := range Scripts() {
		if _, err := conn.Do("SCRIPT", "LOAD", script.Source); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"a", "order:17", "{a}b", "a{b}c", "a}{b}", "{{a}}", "a{b", "a}b", "}b", "{}a", "{", "}"} {
		if _, err := conn.Do("EVALSHA", Lock(nil, key, owner, lease).Args...); err != nil {
			t.Errorf("lock of %q: %v", key, err)
		}
		c := Unlock(nil, key, codec.Channel(key), codec.FreshLatch(key), owner, lease, latchMs, Both)
		reply, err := conn.Do("EVALSHA", c.Args...)
		if codec.SlotSafe(key) {
			if reply != int64(1) || err != nil {
				t.Errorf("unlock of %q: %v, %v", key, reply, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), "CROSSSLOT") {
			t.Errorf("unlock of the unsafe %q: %v, %v; want CROSSSLOT", key, reply, err)
		}
	}
}
