package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/gate"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
)

// What happens to one master of a cluster.
const (
	clusterGraceful = "Cluster: planned failover"
	clusterForced   = "Cluster: forced failover"
	clusterTaken    = "Cluster: takeover"
	clusterKilled   = "Cluster: master killed, and back"
	clusterParted   = "Cluster: master cut off from all but its clients"
	clusterPaused   = "Cluster: one shard stands still for 4 s"
	clusterMoved    = "Cluster: slot moved with 1,000 held and waited for"
)

// asked is what a replica is told for each failover that an operator makes.
var asked = map[string][]any{
	clusterGraceful: {"FAILOVER"}, clusterForced: {"FAILOVER", "FORCE"}, clusterTaken: {"FAILOVER", "TAKEOVER"},
}

const (
	masters = 3
	// dead is how long a server is silent until it is taken for dead.
	dead = 2 * time.Second
	// patient is that where no failover is wanted.
	patient = time.Minute
	still   = 4 * time.Second
)

// cluster is three masters with a replica each, behind gates.
type cluster struct {
	*topologytest.Cluster
	network *gate.Network
	gates   []*gate.Gate
	witness *gate.Witness
	t       *testbed.Program
}

func startCluster(t *testbed.Program, silence time.Duration) *cluster {
	c := &cluster{network: gate.New(t), witness: gate.NewWitness(), t: t}
	c.Cluster = topologytest.StartReplicatedFronted(t, silence, func(i int) redistest.Front {
		g := c.network.Gate(func(e faultproxy.Exchange) { c.witness.See(i, e) })
		c.gates = append(c.gates, g)
		return g.ClusterFront()
	}, 1, 1, 1)
	return c
}

// several plays rounds on one cluster.
func several(w row, silence time.Duration, rounds int, tell func(result), play func(c *cluster, i int) result) {
	r := guarded(w, func(t *testbed.Program) result {
		c := startCluster(t, silence)
		for i := range rounds {
			delay(t, w.delay, c.Servers...)
			tell(play(c, i))
		}
		return result{row: w}
	})
	if len(r.wrong) > 0 {
		tell(r)
	}
}

func (c *cluster) urls() [2]string { return [2]string{c.ClusterURL(), c.ClusterURL()} }

// on are so many names on each master, as the shards began.
func on(form string, each ...int) (all []string) {
	var found [masters]int
	for i := 0; !slices.Equal(found[:], each); i++ {
		name := fmt.Sprintf(form, i)
		if m := shard(name); found[m] < each[m] {
			found[m]++
			all = append(all, name)
		}
	}
	return all
}

// shard is the master that a name began on.
func shard(name string) int { return min(int(codec.Slot(name))/(16384/masters), masters-1) }

// clusterRounds have one master after the other replaced, or cut off, or its replica go.
func clusterRounds(w row, rounds int, tell func(result)) {
	silence := dead
	if w.kind == clusterOnlyGoes {
		silence = patient
	}
	several(w, silence, rounds, tell, func(c *cluster, i int) result { return c.round(w, i) })
}

func (c *cluster) round(w row, i int) result {
	hit := i % masters
	those := func(what string, n int) []string {
		var each [masters]int
		each[hit] = n
		return on(fmt.Sprintf("%s:%d:%%d", what, i), each[:]...)
	}
	kept := those("kept", 20)
	slot := codec.Slot(kept[0])
	master := c.MasterOf(slot)
	other := c.replicaOf(master)
	s := scene{
		row: w, urls: c.urls(), witness: c.witness, lease: usual,
		contested: on(fmt.Sprintf("contested:%d:%%d", i), 4, 4, 4), kept: kept,
		going: those("going", 120), unsynced: those("unsynced", 120), over: 2 * time.Second,
		affected: func(name string) bool { return shard(name) == hit },
		strike: func() time.Time {
			return firstAnswer(kept[0], c.Servers[other:other+1], func() { c.leave(w.kind, master, other) })
		},
		settled: func() bool { m := c.MasterOf(slot); return m >= 0 && online(c.Servers[m]) == 1 },
		present: c.present,
	}
	if w.kind == clusterOnlyGoes {
		s.over, s.strike = away, func() time.Time {
			defer c.Redial(other)
			return goAndComeBack(c.Servers[other])
		}
	}
	awaitFed(c.t, s.settled)
	r := s.play()
	c.AwaitAgreement()
	return r
}

// leave has a shard leave its master.
func (c *cluster) leave(kind string, master, next int) {
	switch kind {
	case clusterKilled:
		c.Servers[master].Kill()
		c.AwaitMaster(next)
		c.Servers[master].Restart()
		c.Redial(master)
	case clusterParted:
		c.network.Isolate(c.gates[master].Host())
		c.awaitSuccessor(next, master)
		time.Sleep(cutOff)
		c.network.Isolate()
	default:
		// A replica may give a failover up, if the master is busy.
		for done := false; !done; done = testbed.Within(6*time.Second, func() bool { return c.KnowsMaster(next, next) }) {
			if _, err := do(c.Servers[next], "CLUSTER", asked[kind]...); err != nil {
				c.t.Fatal(err)
			}
		}
		c.AwaitMaster(next)
	}
}

// replicaOf is the other server of a shard.
func (c *cluster) replicaOf(server int) int { return (server + masters) % (2 * masters) }

// awaitSuccessor waits until all but one server know the next master.
func (c *cluster) awaitSuccessor(next, but int) {
	if !testbed.Within(patience, func() bool {
		for i := range c.Servers {
			if i != but && !c.KnowsMaster(i, next) {
				return false
			}
		}
		return true
	}) {
		c.t.Fatalf("server %d never took over from server %d", next, but)
	}
}

// present tells whether the master has a hold.
func (c *cluster) present(name, owner string) (bool, error) {
	return has(c.Servers[c.MasterOf(codec.Slot(name))], name, owner)
}
