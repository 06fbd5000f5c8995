package topology_test

import (
	"testing"

	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/internal/topologytest"
)

func TestSentinelsSayWhetherAMasterThatLostAReplicaStays(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	top := openSet(t, set.URL(), nil)
	master := set.Master()
	port(t, top)
	if n := len(topology.Known(top, "")); n != 2 {
		t.Errorf("%d replicas are known", n)
	}
	var replicas []*redistest.Server
	for _, n := range set.Nodes {
		if n != master {
			replicas = append(replicas, n)
		}
	}
	stays := func() bool { return topology.Stays(t.Context(), top, master.Addr(), replicas[0].Addr()) }
	becomes(t, "it stays, and the replica follows it", stays)
	replicas[0].Kill()
	becomes(t, "it stays, and the replica is dead", stays)
	replicas[0].Restart()
	if _, err := replicas[0].Dial(t).Do("REPLICAOF", "NO", "ONE"); err != nil {
		t.Fatal(err)
	}
	if stays() { // the Sentinels see to that after a while, and have not noticed yet
		t.Error("it stays, and the replica is a master")
	}
	replicas[0].Kill()
	becomes(t, "it stays, and the replica is dead again", stays)
	set.Sentinels[0].Kill()
	becomes(t, "it stays, by the word of two", stays)
	set.Sentinels[1].Kill()
	if stays() {
		t.Error("it stays by the word of one of three")
	}
	set.Sentinels[0].Restart()
	becomes(t, "it stays again", stays)
	becomes(t, "a dead replica is known to nobody who comes later", func() bool {
		new := openSet(t, set.URL(), nil)
		port(t, new)
		return len(topology.Known(new, "")) == 1
	})
}

func TestMastersSayWhetherOneThatLostAReplicaStays(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	g := openCluster(t, c, nil)
	g.answered(keyOn(0), "SET", "")
	master, replica := c.Servers[0].Addr(), c.Servers[c.Replica(0)]
	g.becomes("its replica is known, as soon as it has something", func() bool {
		new := openCluster(t, c, nil)
		new.answered(keyOn(0), "SET", "")
		return len(topology.Known(new.top, master)) == 1
	})
	stays := func() bool { return topology.Stays(t.Context(), g.top, master, replica.Addr()) }
	if !stays() {
		t.Error("it does not stay, and nothing has happened")
	}
	replica.Kill()
	if !stays() {
		t.Error("it does not stay, and has lost its replica")
	}
	c.Servers[1].Pause()
	if !stays() {
		t.Error("it does not stay by the word of two, its own included")
	}
	c.Servers[2].Pause()
	if stays() {
		t.Error("it stays by its own word")
	}
	c.Servers[1].Resume()
	c.Servers[2].Resume()
	g.becomes("it stays again", stays)
	other := c.Replica(1)
	c.Failover(other)
	if topology.Stays(t.Context(), g.top, master, c.Servers[other].Addr()) {
		t.Error("it stays, and what it had as a replica is a master")
	}
}
