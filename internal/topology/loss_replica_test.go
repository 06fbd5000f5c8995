package topology_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/internal/topology"
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
	stays := func() bool { return topology.Stays(t.Context(), top, master.Addr(), replicas[0].Addr()) == nil }
	becomes(t, "it stays, and the replica follows it", stays)
	replicas[0].Kill()
	becomes(t, "it stays, and the replica is dead", stays)
	replicas[0].Restart()
	if _, err := replicas[0].Dial(t).Do("REPLICAOF", "NO", "ONE"); err != nil {
		t.Fatal(err)
	}
	// The Sentinels have not noticed yet; after a while they would make it a replica again.
	becomes(t, "it stays, and the replica has left", stays)
	set.Sentinels[2].Kill()
	if stays() {
		t.Error("it stays, the replica is a master, and a Sentinel that may have promoted it is silent")
	}
	set.Sentinels[2].Restart()
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

// The client knows the former Sentinels from its URL. They never come back.
func TestSentinelsThatWereReplacedDontCount(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	top := openSet(t, set.URL(), nil)
	port(t, top)
	host, own, _ := net.SplitHostPort(set.Master().Addr())
	former := set.Sentinels
	set.Sentinels = nil
	for range former {
		set.Sentinels = append(set.Sentinels, redistest.StartSentinel(t, "",
			"sentinel monitor "+redistest.MasterName+" "+host+" "+own+" 2", "sentinel down-after-milliseconds "+redistest.MasterName+" 500"))
	}
	first := set.Sentinels[0].Dial(t)
	becomes(t, "the client may learn of the new ones", func() bool {
		others, err := redis.Values(first.Do("SENTINEL", "SENTINELS", redistest.MasterName))
		return err == nil && len(others) == 5
	})
	top.Look()
	becomes(t, "it knows all", func() bool { return top.Sentinels() == 6 })
	for _, s := range former {
		s.Kill()
	}
	for _, s := range set.Sentinels {
		if _, err := s.Dial(t).Do("SENTINEL", "RESET", redistest.MasterName); err != nil {
			t.Fatal(err)
		}
	}
	set.AwaitSettled()
	becomes(t, "it stays, by the word of those that there are", func() bool { return topology.Stays(t.Context(), top, "") == nil })
}

// lastSent returns a function that reports the last command of the client with that name.
func lastSent(conn redis.Conn, name string) func() string {
	return func() string {
		list, _ := redis.String(conn.Do("CLIENT", "LIST"))
		for line := range strings.Lines(list) {
			if strings.Contains(line, " name="+name+" ") {
				_, cmd, _ := strings.Cut(line, " cmd=")
				return strings.Fields(cmd)[0]
			}
		}
		return ""
	}
}

// Only the Sentinels' message causes a count.
func TestReplicaThatComesIsCountedWhenASentinelTellsOfIt(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	top := openSet(t, set.URL(), func(s *topology.Settings) { s.Replicas, s.ConnectionName = true, "counts" })
	top.OnlyLookWhenTold()
	port(t, top)
	master := set.Master()
	last := lastSent(master.Dial(t), "counts")
	_, _ = send(t, top, "PING")
	if cmd := last(); cmd != "ping" {
		t.Fatal(cmd)
	}
	host, own, _ := net.SplitHostPort(master.Addr())
	redistest.Start(t, "--replicaof", host+" "+own)
	becomes(t, "counted", func() bool { return last() == "info" })
}

// The replica may be the master's first, and may have joined a moment ago.
func TestReplicaThatIsAboutToBePromotedIsCounted(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	top := openSet(t, set.URL(), func(s *topology.Settings) { s.Replicas, s.ConnectionName = true, "counts" })
	top.OnlyLookWhenTold()
	port(t, top)
	last := lastSent(set.Master().Dial(t), "counts")
	_, _ = send(t, top, "PING")
	if cmd := last(); cmd != "ping" {
		t.Fatal(cmd)
	}
	set.Failover(set.Sentinels[0])
	becomes(t, "counted", func() bool { return last() == "info" })
}

func TestMastersSayWhetherOneThatLostAReplicaStays(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	g := openCluster(t, c, nil)
	g.answered(keyOn(0), "SET", "")
	master, replica := c.Servers[0].Addr(), c.Servers[c.Replica(0)]
	g.becomes("its replica is known, as soon as it has something", func() bool {
		time.Sleep(timeout / 50) // keeps the number of clients small
		new := openCluster(t, c, nil)
		new.answered(keyOn(0), "SET", "")
		return len(topology.Known(new.top, master)) == 1
	})
	stays := func() bool { return topology.Stays(t.Context(), g.top, master, replica.Addr()) == nil }
	g.becomes("it stays, and nothing has happened", stays)
	replica.Kill()
	g.becomes("it stays, and has lost its replica", stays)
	c.Servers[1].Pause()
	g.becomes("it stays by the word of two, its own included", stays)
	c.Servers[2].Pause()
	if stays() {
		t.Error("it stays by its own word")
	}
	c.Servers[1].Resume()
	c.Servers[2].Resume()
	g.becomes("it stays again", stays)
	other := c.Replica(1)
	c.Failover(other)
	if topology.Stays(t.Context(), g.top, master, c.Servers[other].Addr()) == nil {
		t.Error("it stays, and what it had as a replica is a master")
	}
}

// The server runs on as a master without slots.
func TestReplicaThatLeftTheClusterIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	g := openCluster(t, c, func(s *topology.Settings) { s.Replicas = true })
	g.becomes("its replica is waited for", func() bool { return waitedFor(g.top) == 1 })
	leaves := c.Replica(c.MasterOf(codec.Slot("k")))
	for i := range c.Servers {
		what := []any{"FORGET", c.ID(leaves)}
		if i == leaves {
			what = []any{"RESET"}
		}
		if _, err := c.Conn(i).Do("CLUSTER", what...); err != nil {
			t.Fatal(err)
		}
	}
	g.becomes("it is not waited for", func() bool { return waitedFor(g.top) == 0 })
}

// Its master calls it online for a minute.
func TestReplicaThatHangsIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	replicas := func(s *topology.Settings) { s.Replicas = true }
	t.Run("Sentinels", func(t *testing.T) {
		t.Parallel()
		set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
		top := openSet(t, set.URL(), replicas)
		becomes(t, "both are waited for", func() bool { return waitedFor(top) == 2 })
		set.Nodes[1].Pause()
		defer set.Nodes[1].Resume()
		redistest.Settles(t, "one is waited for", func() bool { return waitedFor(top) == 1 })
		online(t, set.Master(), 2)
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		c := topologytest.StartReplicated(t, 1, 1, 1)
		g := openCluster(t, c, replicas)
		g.becomes("its replica is waited for", func() bool { return waitedFor(g.top) == 1 })
		master := c.MasterOf(codec.Slot("k"))
		c.Servers[c.Replica(master)].Pause()
		defer c.Servers[c.Replica(master)].Resume()
		redistest.Settles(t, "it is not waited for", func() bool { return waitedFor(g.top) == 0 })
		online(t, c.Servers[master], 1)
	})
}

// online checks how many replicas the master still calls online.
func online(t *testing.T, master *redistest.Server, want int) {
	t.Helper()
	info, err := redis.String(master.Dial(t).Do("INFO", "replication"))
	if n := strings.Count(info, "state=online"); n != want || err != nil {
		t.Errorf("the master calls %d online, %v", n, err)
	}
}

// The replica that a Sentinel is about to promote hangs, and then dies. The Sentinel waits for it.
func TestReplicaThatDiesWhileItIsPromotedIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	top := openSet(t, set.URL(), func(s *topology.Settings) { s.Replicas = true })
	becomes(t, "both replicas are waited for", func() bool { return waitedFor(top) == 2 })
	chosen, lead := set.Nodes[1], set.Sentinels[0].Dial(t)
	if _, err := lead.Do("SENTINEL", "SET", redistest.MasterName, "down-after-milliseconds", 60000); err != nil {
		t.Fatal(err)
	}
	if _, err := set.Nodes[2].Dial(t).Do("CONFIG", "SET", "replica-priority", 0); err != nil { // never promoted
		t.Fatal(err)
	}
	table := func(of string) string {
		said, err := redis.Values(lead.Do("SENTINEL", of, redistest.MasterName))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s", said)
	}
	redistest.Settles(t, "the Sentinel knows of that", func() bool { return strings.Contains(table("REPLICAS"), "slave-priority 0 ") })
	chosen.Pause()
	set.Failover(set.Sentinels[0])
	becomes(t, "it waits for the replica", func() bool { return strings.Contains(table("REPLICAS"), "promoted") })
	becomes(t, "it is said that the master may not stay, because a replica that hangs may be promoted", func() bool {
		return topology.Stays(t.Context(), top, "", chosen.Addr()) != nil
	})
	chosen.Kill()
	becomes(t, "the other one is waited for", func() bool { return waitedFor(top) == 1 })
	if !strings.Contains(table("MASTER"), "failover_in_progress") {
		t.Error("the Sentinel waits for it no longer")
	}
}

// Its account may not use INFO, as one without dangerous commands.
func TestReplicasThatAServerHidesAreWaitedForAsListed(t *testing.T) {
	t.Parallel()
	grant := func(s *redistest.Server) {
		if _, err := s.Dial(t).Do("ACL", "SETUSER", "worker", "on", ">secret", "~*", "&*", "+@all", "-@dangerous"); err != nil {
			t.Fatal(err)
		}
	}
	var log logged
	hidden := func(s *topology.Settings) { s.Replicas, s.Log = true, log.events() }
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	for _, n := range set.Nodes {
		grant(n)
	}
	top := openSet(t, strings.Replace(set.URL(), "://", "://worker:secret@", 1), hidden)
	for range 3 {
		if n := waitedFor(top); n != 2 {
			t.Errorf("%d replicas are waited for", n)
		}
	}
	if n := log.count("replicas hidden"); n != 1 || !top.Nodes()[0].HidesReplicas() {
		t.Errorf("it was logged %d times", n)
	}
	set.Nodes[1].Kill()
	becomes(t, "the dead one is not waited for", func() bool {
		top.Look()
		return waitedFor(top) == 1
	})
}
