package topologytest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// usualSilence is after how long StartReplicated's servers count one as dead. It is short,
// so that failovers come soon, but long enough for a busy machine.
const usualSilence = 2 * time.Second

// StartReplicated is Start for masters with one replica each. The replica of
// server i is server len(shares)+i.
func StartReplicated(t testing.TB, shares ...int) *Cluster {
	t.Helper()
	return StartReplicatedFronted(t, 0, nil, shares...)
}

// StartReplicatedFronted is StartReplicated for servers with fronts, unless front is nil.
// A server that is silent for longer than silence counts as dead; 0 means two seconds.
func StartReplicatedFronted(t testing.TB, silence time.Duration, front func(server int) redistest.Front, shares ...int) *Cluster {
	t.Helper()
	if silence == 0 {
		silence = usualSilence
	}
	c := (&Cluster{t: t, silence: silence, front: front}).startMasters(shares)
	n := len(shares)
	for i := range n {
		c.add()
		c.meet(n + i)
	}
	for i := range n {
		c.await("a replica knows its master", func() bool {
			return strings.Contains(c.text(n+i, "CLUSTER", "NODES"), c.ids[i])
		})
		c.do(n+i, "CLUSTER", "REPLICATE", c.ids[i])
	}
	c.serves() // masters take two seconds; meanwhile the replicas get ready
	for i := range n {
		c.await("a replica has all that its master has", func() bool {
			return strings.Contains(c.text(n+i, "INFO", "replication"), "master_link_status:up")
		})
	}
	for i := range 2 * n {
		c.await("every server knows who is whose replica", func() bool { return c.replicasSeen(i) == n })
	}
	return c
}

// AddReplica gives a master one more replica. It returns the replica's number once that has all that its master has.
func (c *Cluster) AddReplica(master int) int {
	c.t.Helper()
	i := len(c.Servers)
	c.add()
	c.meet(i)
	c.await("the new server knows its master", func() bool { return strings.Contains(c.text(i, "CLUSTER", "NODES"), c.ids[master]) })
	c.do(i, "CLUSTER", "REPLICATE", c.ids[master])
	c.AwaitReplica(i)
	return i
}

// replicasSeen counts the replicas that a server knows.
func (c *Cluster) replicasSeen(server int) (n int) {
	c.t.Helper()
	for line := range strings.Lines(c.text(server, "CLUSTER", "NODES")) {
		if fields := strings.Fields(line); len(fields) > 3 && strings.Contains(fields[2], "slave") && fields[3] != "-" {
			n++
		}
	}
	return n
}

// ClusterURL returns the URL for clients of a cluster.
func (c *Cluster) ClusterURL() string {
	return "redis+cluster://" + strings.TrimPrefix(c.URL(), Scheme+"://")
}

// Replica returns the number of the replica that a master began with.
func (c *Cluster) Replica(master int) int { return c.masters + master }

// Failover makes a replica take over from its master, which becomes its replica, and
// waits until every server knows.
func (c *Cluster) Failover(replica int) {
	c.t.Helper()
	c.AwaitAgreement()
	c.await("a replica begins to take over", func() bool {
		_, err := c.conns[replica].Do("CLUSTER", "FAILOVER")
		return err == nil // "Master is down or failed" passes
	})
	c.AwaitMaster(replica)
}

// TakeOver makes a restarted replica take over from its dead master, with the data that
// it has, and waits until every server knows.
func (c *Cluster) TakeOver(replica int) {
	c.t.Helper()
	c.Redial(replica)
	c.await("it knows that it is a replica", func() bool {
		return strings.Contains(c.text(replica, "CLUSTER", "NODES"), "myself,slave")
	})
	c.do(replica, "CLUSTER", "FAILOVER", "TAKEOVER")
	c.AwaitMaster(replica)
}

// AwaitMaster waits until a server has slots, and every running server knows that and
// serves again.
func (c *Cluster) AwaitMaster(server int) {
	c.t.Helper()
	c.await(fmt.Sprintf("every server knows that server %d is a master", server), func() bool { return c.AllKnowMaster(server) })
}

// AllKnowMaster tells whether KnowsMaster is true for every running server.
func (c *Cluster) AllKnowMaster(server int) bool {
	c.t.Helper()
	for i, s := range c.Servers {
		if s.Pid() != 0 && !c.KnowsMaster(i, server) {
			return false
		}
	}
	return true
}

// KnowsMaster tells whether the server asked knows that server has slots, and serves
// commands itself. It is false if asked does not answer.
func (c *Cluster) KnowsMaster(asked, server int) bool {
	ranges, err := askSlots(c.conns[asked])
	if err != nil {
		return false
	}
	info, err := redis.String(c.conns[asked].Do("CLUSTER", "INFO"))
	if err != nil || !strings.Contains(info, "cluster_state:ok") {
		return false
	}
	for _, r := range ranges {
		if r.addr == c.addrs[server] {
			return true
		}
	}
	return false
}

// AwaitAgreement waits until all running servers name the same master for each slot. A
// replica that takes over claims only slots that it has heard of.
func (c *Cluster) AwaitAgreement() {
	c.t.Helper()
	c.await("all servers agree on all slots", func() bool {
		var first map[uint16]string
		for i, s := range c.Servers {
			if s.Pid() == 0 {
				continue
			}
			ranges, err := askSlots(c.conns[i])
			if err != nil {
				return false
			}
			masters := map[uint16]string{}
			for _, r := range ranges {
				for slot := int(r.First); slot <= int(r.Last); slot++ {
					masters[uint16(slot)] = r.addr
				}
			}
			if first == nil {
				first = masters
			}
			if !maps.Equal(first, masters) {
				return false
			}
		}
		return true
	})
}

// Redial connects the test again to a server that was restarted.
func (c *Cluster) Redial(server int) {
	c.t.Helper()
	c.conns[server] = c.Servers[server].Dial(c.t)
}

// AwaitReplica waits until Follows is true for a server.
func (c *Cluster) AwaitReplica(server int) {
	c.t.Helper()
	c.await("it follows a master, and every server knows", func() bool { return c.Follows(server) })
}

// Follows tells whether a server has all that its master has, and every running server
// knows that it is a replica.
func (c *Cluster) Follows(server int) bool {
	c.t.Helper()
	info := c.text(server, "INFO", "replication")
	if !strings.Contains(info, "role:slave") || !strings.Contains(info, "master_link_status:up") {
		return false
	}
	for i, s := range c.Servers {
		if s.Pid() != 0 && !c.knowsReplica(i, server) {
			return false
		}
	}
	return true
}

// knowsReplica tells whether the server asked calls server a replica, and not failed.
func (c *Cluster) knowsReplica(asked, server int) bool {
	c.t.Helper()
	for line := range strings.Lines(c.text(asked, "CLUSTER", "NODES")) {
		fields := strings.Fields(line)
		if len(fields) > 3 && fields[0] == c.ids[server] {
			return strings.Contains(fields[2], "slave") && !strings.Contains(fields[2], "fail")
		}
	}
	return false
}

// MasterOf returns the server that every running server names for a slot, -1 while they
// do not agree.
func (c *Cluster) MasterOf(slot uint16) int {
	c.t.Helper()
	found := -1
	for i, s := range c.Servers {
		if s.Pid() == 0 {
			continue
		}
		ranges, err := askSlots(c.conns[i])
		if err != nil {
			return -1
		}
		for _, r := range ranges {
			if r.First > slot || r.Last < slot {
				continue
			}
			at := slices.Index(c.addrs, r.addr)
			if found >= 0 && at != found {
				return -1
			}
			found = at
		}
	}
	return found
}
