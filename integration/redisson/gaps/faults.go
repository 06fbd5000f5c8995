package main

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

// fault is one of the table's rows.
type fault struct {
	where, what string
	timeout     time.Duration // command timeout of both sides; 0 is the usual one
	start       func(t testing.TB) *place
	why         string        // Go must be behind
	within      time.Duration // of the fault Go enters then
}

func (f fault) String() string { return f.where + ": " + f.what }

// Why Go must be behind.
const (
	leaves    = "a replica that is gone may be the next master, so WAIT asks for it until most Sentinels have said twice that the master stays"
	forgotten = "a replica that is gone may be the next master, so WAIT asks for it until most masters have said twice that the master stays"
	silent    = "tokens and counts wait for each replica that may be promoted: until it has been silent for 8 s, or died"
)

// place is where locks are.
type place struct {
	url    string
	names  []string // beginnings of names; those of the first are on the server that the fault is about
	strike func()
}

var faults = []fault{
	{where: "cluster", what: "a former master's address is used by another cluster", start: addressOfMaster},
	{where: "cluster", what: "a replica's address is used by another cluster", start: addressOfReplica, why: forgotten, within: 5 * time.Second},
	{where: "cluster", what: "a replica leaves as by `--cluster del-node`", start: delNode, why: forgotten, within: 5 * time.Second},
	{where: "cluster", what: "a master hangs, command timeout 3 s", start: masterHangs},
	{where: "cluster", what: "a master hangs, command timeout 10 s", timeout: 10 * time.Second, start: masterHangs},
	{where: "cluster", what: "a master hangs, command timeout 20 s", timeout: 20 * time.Second, start: masterHangs},
	{where: "cluster", what: "a replica hangs", start: clusterReplicaHangs},
	{where: "cluster", what: "all of 21 servers hang, and the URL leads to a new cluster", start: manyGone},
	{where: "Sentinels", what: "REMOVE, and MONITOR of another master", start: monitoredAnew},
	{where: "Sentinels", what: "restarted with a fresh configuration, for another master", start: freshConfiguration},
	{where: "Sentinels", what: "REPLICAOF NO ONE at one of two replicas", start: detached(2), why: leaves, within: 5 * time.Second},
	{where: "Sentinels", what: "REPLICAOF NO ONE at the only replica", start: detached(1)},
	{where: "Sentinels", what: "a planned failover whose replica hangs, and dies after 12 s; another one lives", start: stuck(2), why: silent, within: 17 * time.Second},
	{where: "Sentinels", what: "a planned failover whose only replica hangs, and dies after 12 s", start: stuck(1)},
	{where: "Sentinels", what: "one of two replicas hangs", start: replicaHangs(2), why: silent, within: 15 * time.Second},
	{where: "Sentinels", what: "the only replica hangs", start: replicaHangs(1)},
}

// do runs a command on a server.
func do(t testing.TB, s *redistest.Server, command string, args ...any) any {
	conn := s.Dial(t)
	defer conn.Close()
	reply, err := conn.Do(command, args...)
	if err != nil {
		t.Fatalf("%s %v: %v", command, args, err)
	}
	return reply
}

// tags are the beginnings of names on each of three masters, or of any number.
func tags(masters int) (names []string) {
	for master := range masters {
		for n := 0; ; n++ {
			if tag := fmt.Sprintf("{%d}", n); int(codec.Slot(tag))*masters/16384 == master {
				names = append(names, tag)
				break
			}
		}
	}
	return names
}

// replicated is a cluster of three masters with a replica each.
func replicated(t testing.TB, strike func(c *topologytest.Cluster)) *place {
	c := topologytest.StartReplicated(t, 1, 1, 1)
	return &place{c.ClusterURL(), tags(3), func() { strike(c) }}
}

func addressOfMaster(t testing.TB) *place {
	return replicated(t, func(c *topologytest.Cluster) {
		c.Failover(c.Replica(0)) // whose data would go if it went on following that address
		c.Secede(0)
	})
}

func addressOfReplica(t testing.TB) *place {
	return replicated(t, func(c *topologytest.Cluster) { c.Secede(c.Replica(0)) })
}

func delNode(t testing.TB) *place {
	return replicated(t, func(c *topologytest.Cluster) {
		leaves := c.Replica(0)
		for i, s := range c.Servers {
			if i != leaves {
				do(t, s, "CLUSTER", "FORGET", c.ID(leaves))
			}
		}
		do(t, c.Servers[leaves], "CLUSTER", "RESET")
	})
}

func masterHangs(t testing.TB) *place {
	return replicated(t, func(c *topologytest.Cluster) { c.Servers[0].Pause() })
}

func clusterReplicaHangs(t testing.TB) *place {
	return replicated(t, func(c *topologytest.Cluster) { c.Servers[c.Replica(0)].Pause() })
}

// manyGone has a URL whose only host leads to one of 21 servers, and then to another cluster.
func manyGone(t testing.TB) *place {
	former := topologytest.StartReplicatedFronted(t, time.Minute, nil, slices.Repeat([]int{1}, 10)...)
	former.AddReplica(0)
	next := topologytest.Start(t, 1, 1, 1)
	host := faultproxy.Start(t, former.Servers[0].Addr())
	_, port, _ := net.SplitHostPort(host.Addr())
	return &place{"redis+cluster://localhost:" + port, tags(1), func() {
		host.Move(next.Servers[0].Addr())
		host.CutAll()
		for _, s := range former.Servers {
			s.Pause()
		}
	}}
}

// set is a master with two replicas behind three Sentinels, or with one.
func set(t testing.TB, replicas int) *redistest.SentinelSet {
	s := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	if replicas == 1 {
		s.Nodes[2].Kill()
		for _, x := range s.Sentinels {
			do(t, x, "SENTINEL", "RESET", redistest.MasterName)
		}
		for _, x := range s.Sentinels {
			redistest.Settles(t, "each Sentinel knows one replica, and the others", func() bool {
				m, err := redis.StringMap(do(t, x, "SENTINEL", "MASTER", redistest.MasterName), nil)
				return err == nil && m["num-slaves"] == "1" && m["num-other-sentinels"] == "2"
			})
		}
	}
	return s
}

func behind(s *redistest.SentinelSet, strike func()) *place {
	return &place{s.URL(), []string{""}, strike}
}

// failedOver is a set whose Sentinels have an epoch, and its next master.
func failedOver(t testing.TB) (s *redistest.SentinelSet, next *redistest.Server) {
	s = set(t, 2)
	first := s.Master()
	s.Failover(s.Sentinels[0])
	s.AwaitMaster(first)
	s.AwaitSettled()
	return s, first
}

// promote makes a server the master of all others, as an operator does.
func promote(t testing.TB, s *redistest.SentinelSet, next *redistest.Server) (host, port string) {
	host, port, _ = net.SplitHostPort(next.Addr())
	do(t, next, "REPLICAOF", "NO", "ONE")
	for _, n := range s.Nodes {
		if n != next {
			do(t, n, "REPLICAOF", host, port)
		}
	}
	return host, port
}

func monitoredAnew(t testing.TB) *place {
	s, next := failedOver(t)
	return behind(s, func() {
		promote(t, s, next)
		s.Monitor(next)
	})
}

func freshConfiguration(t testing.TB) *place {
	s, next := failedOver(t)
	return behind(s, func() {
		host, port := promote(t, s, next)
		for _, x := range s.Sentinels {
			info, _ := redis.String(do(t, x, "INFO", "server"), nil)
			_, file, _ := strings.Cut(info, "config_file:")
			file, _, _ = strings.Cut(file, "\r")
			x.Kill()
			if err := os.WriteFile(file, fmt.Appendf(nil, "sentinel monitor %s %s %s 2\n", redistest.MasterName, host, port), 0o600); err != nil {
				t.Fatal(err)
			}
			x.Restart()
		}
		// One that began anew believes one that did not, whose epoch is higher. If the restarts take so long that they meet, the former
		// master is the Sentinels' again, as a replica, and nobody can enter for a minute.
		for _, x := range s.Sentinels {
			if named := fmt.Sprintf("%s", do(t, x, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", redistest.MasterName)); !strings.Contains(named, port) {
				t.Fatalf("%s has the former configuration again, of one that was still to be restarted: %s", x.Addr(), named)
			}
		}
	})
}

func detached(replicas int) func(t testing.TB) *place {
	return func(t testing.TB) *place {
		s := set(t, replicas)
		return behind(s, func() { do(t, s.Nodes[1], "REPLICAOF", "NO", "ONE") })
	}
}

func replicaHangs(replicas int) func(t testing.TB) *place {
	return func(t testing.TB) *place {
		s := set(t, replicas)
		return behind(s, s.Nodes[1].Pause)
	}
}

// stuck has a Sentinel wait for a replica that hangs when it is to be promoted.
func stuck(replicas int) func(t testing.TB) *place {
	return func(t testing.TB) *place {
		s := set(t, replicas)
		lead, chosen := s.Sentinels[0], s.Nodes[1]
		do(t, lead, "SENTINEL", "SET", redistest.MasterName, "failover-timeout", 180000)
		do(t, lead, "SENTINEL", "SET", redistest.MasterName, "down-after-milliseconds", 60000)
		told := func(what string) bool {
			return strings.Contains(fmt.Sprintf("%s", do(t, lead, "SENTINEL", "REPLICAS", redistest.MasterName)), what)
		}
		if replicas == 2 {
			do(t, s.Nodes[2], "CONFIG", "SET", "replica-priority", 0) // never promoted
			redistest.Settles(t, "the Sentinel knows of that", func() bool { return told("slave-priority 0 ") })
		}
		return behind(s, func() {
			chosen.Pause()
			s.Failover(lead)
			redistest.Settles(t, "it waits for the replica", func() bool { return told("promoted") })
			<-time.After(12 * time.Second)
			chosen.Kill()
		})
	}
}
