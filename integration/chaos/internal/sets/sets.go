// Package sets starts several servers, with Sentinels or as a cluster. Each is behind a gate that reads the replies to WAIT.
package sets

import (
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/gate"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

type Set struct {
	Network *gate.Network
	Gates   []*gate.Gate // by server
	Witness *gate.Witness
	Nodes   []*redistest.Server
	URL     string
	Watched *redistest.SentinelSet // nil in a cluster
	Cluster *topologytest.Cluster  // nil behind Sentinels
}

func start(t testing.TB) *Set { return &Set{Network: gate.New(t), Witness: gate.NewWitness()} }

func (s *Set) gate(i int) *gate.Gate {
	g := s.Network.Gate(func(e faultproxy.Exchange) { s.Witness.See(i, e) })
	s.Gates = append(s.Gates, g)
	return g
}

// Sentinels starts a master with two replicas, and three Sentinels. All end with t.
func Sentinels(t testing.TB) *Set {
	s := start(t)
	var nodes, sentinels [3]redistest.Front
	for i := range nodes {
		nodes[i], sentinels[i] = s.gate(i).Front(), gate.WatcherFront(i)
	}
	s.Watched = redistest.StartSentinelsFronted(t, redistest.SentinelPasswords{}, nodes, sentinels)
	s.Watched.AllowFailover()
	s.Nodes, s.URL = s.Watched.Nodes, s.Watched.URL()
	return s
}

// Shards is the number of a cluster's masters, each of which has one replica.
const Shards = 3

// Cluster starts a cluster that counts a server as dead after this silence. The cluster ends with t.
func Cluster(t testing.TB, silence time.Duration) *Set {
	s := start(t)
	s.Cluster = topologytest.StartReplicatedFronted(t, silence, func(i int) redistest.Front { return s.gate(i).ClusterFront() }, 1, 1, 1)
	s.Nodes, s.URL = s.Cluster.Servers, s.Cluster.ClusterURL()
	return s
}

// Name is the client name of the test's own connections, which are not part of what is tested.
const Name = "stage"

// Do sends a command to one server, past all gates.
func Do(s *redistest.Server, command string, args ...any) (any, error) {
	c, err := redis.Dial("tcp", s.Addr(), redis.DialClientName(Name), redis.DialConnectTimeout(time.Second),
		redis.DialReadTimeout(5*time.Second), redis.DialWriteTimeout(time.Second))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Do(command, args...)
}

// Role returns the role that a server reports, or "" if it does not answer.
func Role(s *redistest.Server) (role string) {
	if reply, err := redis.Values(Do(s, "ROLE")); err == nil && len(reply) > 0 {
		role, _ = redis.String(reply[0], nil)
	}
	return role
}

// Online returns the number of replicas that a master reports as online, or -1 if it does not answer.
func Online(master *redistest.Server) int {
	info, err := redis.String(Do(master, "INFO", "replication"))
	if err != nil {
		return -1
	}
	return strings.Count(info, ",state=online,")
}
