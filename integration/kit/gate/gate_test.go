package gate_test

import (
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/gate"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/internal/topology"
)

func TestMain(m *testing.M) { testbed.Main(m, "2") }

func dial(t *testing.T, addr string) redis.Conn {
	t.Helper()
	c, err := redis.Dial("tcp", addr, redis.DialReadTimeout(10*time.Second))
	testbed.Must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// askedFor returns the master that a new client finds for a slot in its first look.
func askedFor(t *testing.T, url string, slot uint16) string {
	t.Helper()
	top, err := topology.Open(url, topology.Settings{Timeout: 5 * time.Second, Clock: clock.System()})
	testbed.Must(t, err)
	defer top.Close(0)
	var n *topology.Node
	testbed.Becomes(t, "a node serves the slot", func() bool { n, err = top.Node(slot); return err == nil })
	return n.String()
}

func TestAClusterElectsAnotherMasterForOneThatIsCutOff(t *testing.T) {
	n := gate.New(t)
	var gates []*gate.Gate
	c := topologytest.StartReplicatedFronted(t, time.Second, func(int) redistest.Front {
		gates = append(gates, n.Gate(nil))
		return gates[len(gates)-1].ClusterFront()
	}, 1, 1, 1)
	if reply := testbed.Do(t, dial(t, gates[0].Addr()), "PING"); reply != "PONG" {
		t.Errorf("the server behind the gate: %v", reply)
	}
	n.Isolate(gates[0].Host())
	replica := c.Replica(0)
	testbed.Becomes(t, "somebody takes over", func() bool { return c.KnowsMaster(1, replica) && c.KnowsMaster(2, replica) })
	if c.KnowsMaster(0, replica) {
		t.Error("the server that is cut off knows of it")
	}
	slot, next := c.Slots(0)[0], gates[replica].Addr()
	for range 8 { // each new client may ask the isolated server first
		if got := askedFor(t, "redis+cluster://"+gates[0].Addr()+","+gates[1].Addr(), slot); got != next {
			t.Errorf("a client that asks both takes %s for the master, not %s", got, next)
		}
	}
	if got := askedFor(t, "redis+cluster://"+gates[0].Addr(), slot); got != gates[0].Addr() {
		t.Errorf("a client that reaches nobody else at first takes %s for the master, not %s", got, gates[0].Addr())
	}
	n.Isolate()
	c.AwaitReplica(0)
}
