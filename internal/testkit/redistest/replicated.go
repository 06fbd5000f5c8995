package redistest

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"
)

// ReplicatedSet is a master with replicas. Nobody watches them: their roles change by hand.
type ReplicatedSet struct {
	Nodes []*Server // the first began as the master

	t testing.TB
}

// StartReplicated starts a master with that many replicas, and returns when all have
// acknowledged a write. args are those of each server.
func StartReplicated(t testing.TB, replicas int, args ...string) *ReplicatedSet {
	t.Helper()
	Slow(t, "replication takes seconds")
	args = append([]string{"--repl-diskless-sync-delay", "0"}, args...)
	s := &ReplicatedSet{t: t, Nodes: []*Server{Start(t, args...)}}
	for range replicas {
		s.Nodes = append(s.Nodes, s.Nodes[0].StartReplica(t, args...))
	}
	return s
}

// Addrs returns the addresses of the nodes, separated by commas.
func (s *ReplicatedSet) Addrs() string {
	var addrs []string
	for _, n := range s.Nodes {
		addrs = append(addrs, n.Addr())
	}
	return strings.Join(addrs, ",")
}

// URL returns the URL of the set, without a password.
func (s *ReplicatedSet) URL() string { return "redis+replicated://" + s.Addrs() }

// Detach makes a node a master, whatever the others are.
func (s *ReplicatedSet) Detach(node *Server) {
	s.t.Helper()
	s.do(node, "REPLICAOF", "NO", "ONE")
}

// Follow makes a node a replica of master.
func (s *ReplicatedSet) Follow(node, master *Server) {
	s.t.Helper()
	host, port, _ := net.SplitHostPort(master.Addr())
	s.do(node, "REPLICAOF", host, port)
}

// Promote makes next the master, and the others its replicas. former knows of it last.
func (s *ReplicatedSet) Promote(next, former *Server) {
	s.t.Helper()
	s.Detach(next)
	for _, n := range s.Nodes {
		if n != next && n != former && n.Pid() != 0 {
			s.Follow(n, next)
		}
	}
	if former.Pid() != 0 {
		s.Follow(former, next)
	}
}

// Swap makes master and next swap their roles, without losing a write. The other nodes
// follow next then.
func (s *ReplicatedSet) Swap(master, next *Server) {
	s.t.Helper()
	host, port, _ := net.SplitHostPort(next.Addr())
	s.do(master, "FAILOVER", "TO", host, port)
	Settles(s.t, "the roles are swapped", func() bool { return Role(s.t, next) == "master" && Role(s.t, master) == "slave" })
	for _, n := range s.Nodes {
		if n != next && n != master {
			s.Follow(n, next)
		}
	}
}

// AwaitReplicas returns when that many replicas of master are online.
func (s *ReplicatedSet) AwaitReplicas(master *Server, n int) {
	s.t.Helper()
	Settles(s.t, fmt.Sprintf("%d replicas are online", n), func() bool {
		conn, err := master.dial(master.Addr())
		if err != nil {
			return false
		}
		defer conn.Close()
		info, err := redis.String(conn.Do("INFO", "replication"))
		return err == nil && strings.Count(info, "state=online") == n
	})
}

func (s *ReplicatedSet) do(node *Server, command string, args ...any) {
	s.t.Helper()
	conn, err := node.dial(node.Addr())
	if err == nil {
		_, err = conn.Do(command, args...)
		conn.Close()
	}
	if err != nil {
		s.t.Fatalf("redistest: %s: %v", command, err)
	}
}

// Role returns what a server says of itself, or nothing if it can't be asked.
func Role(t testing.TB, node *Server) (role string) {
	t.Helper()
	conn, err := node.dial(node.Addr())
	if err != nil {
		return ""
	}
	defer conn.Close()
	said, err := redis.Values(conn.Do("ROLE"))
	if err == nil {
		_, err = redis.Scan(said, &role)
	}
	if err != nil {
		return ""
	}
	return role
}
