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
	clusterKilled = "Cluster: master killed"
	clusterParted = "Cluster: master cut off from all but its clients"
	clusterPaused = "Cluster: one shard stands still for 4 s"
	clusterMoved  = "Cluster: slot moved with 1,000 held and waited for"
)

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

func (c *cluster) urls() [2]string { return [2]string{c.ClusterURL(), c.ClusterURL()} }

// on are so many names on each master, as the shards began.
func on(form string, each int) (all []string) {
	var found [masters]int
	for i := 0; len(all) < masters*each; i++ {
		name := fmt.Sprintf(form, i)
		if m := shard(name); found[m] < each {
			found[m]++
			all = append(all, name)
		}
	}
	return all
}

// shard is the master that a name began on.
func shard(name string) int { return min(int(codec.Slot(name))/(16384/masters), masters-1) }

// clusterRounds kills or cuts off one master after the other, of one cluster. tell hears each result.
func clusterRounds(kind string, rounds int, tell func(result)) {
	several(kind, dead, rounds, tell, func(c *cluster, i int) result { return c.round(kind, i) })
}

func (c *cluster) round(kind string, i int) result {
	hit := i % masters
	contested := on(fmt.Sprintf("contested:%d:%%d", i), 4)
	hits := func(name string) bool { return shard(name) == hit }
	master := c.MasterOf(codec.Slot(contested[slices.IndexFunc(contested, hits)]))
	s := scene{
		kind: kind, urls: c.urls(), witness: c.witness,
		contested: on(fmt.Sprintf("contested:%d:%%d", i), 4), kept: on(fmt.Sprintf("kept:%d:%%d", i), 7),
		affected: func(name string) bool { return shard(name) == hit },
		present:  c.present,
	}
	switch kind {
	case clusterKilled:
		s.strike = func() {
			c.Servers[master].Kill()
			c.AwaitMaster(c.replicaOf(master))
		}
	case clusterParted:
		s.strike = func() {
			next := c.replicaOf(master)
			c.network.Isolate(c.gates[master].Host())
			c.awaitSuccessor(next, master)
			time.Sleep(cutOff)
			c.network.Isolate()
		}
	}
	r := s.play()
	switch kind {
	case clusterKilled:
		c.Rejoin(master)
	case clusterParted:
		c.AwaitReplica(master)
	}
	return r
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
