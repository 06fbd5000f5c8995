package cluster_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/gate"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// TestMasterThatComesBackAloneLetsNobodyIn restarts a master, empty and cut off from the others, after its replica has
// taken over. Two seconds later it takes commands, until it notices that no server answers. It has not heard of its
// replica, and CLUSTER SLOTS leaves out servers that it has not heard of.
func TestMasterThatComesBackAloneLetsNobodyIn(t *testing.T) {
	t.Parallel()
	network := gate.New(t)
	var gates []*gate.Gate
	s := topologytest.StartReplicatedFronted(t, 8*time.Second, func(int) redistest.Front {
		g := network.Gate(func(faultproxy.Exchange) {})
		gates = append(gates, g)
		return g.ClusterFront()
	}, 1, 1, 1)
	former, replica := 0, s.Replica(0)
	name := nameOf(0)
	h, err := open(t, s, rlock.WithReplicaSync(true), rlock.WithWatchdogTimeout(10*time.Minute)).NewLock(name).TryLock(t.Context())
	testbed.Must(t, err)
	s.Servers[former].Kill()
	s.TakeOver(replica)
	network.Isolate(gates[former].Host())
	s.Servers[former].Restart()
	s.Redial(former)
	testbed.BecomesWithin(t, 10*time.Second, "it takes commands", func() bool {
		_, err := s.Conn(former).Do("GET", name)
		return err == nil
	})
	if slots, err := redis.String(s.Conn(former).Do("CLUSTER", "NODES")); err != nil || !strings.Contains(slots, "myself,master") {
		t.Fatalf("it is no master: %v\n%s", err, slots)
	}
	c := testbed.Open(t, "redis+cluster://"+gates[former].Addr(), rlock.WithReplicaSync(true), rlock.WithCommandTimeout(5*time.Second))
	if second, err := c.NewLock(name).TryLock(t.Context()); err == nil {
		t.Errorf("%v is beside %v", second, h)
	}
	network.Isolate()
}
