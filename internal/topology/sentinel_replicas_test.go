package topology_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/topology"
)

// waitedFor makes a write. It returns how many replicas its WAIT asked for, or -1 if it failed.
func waitedFor(top topology.Topology) int {
	n, err := top.Node(codec.Slot("k"))
	if err != nil {
		return -1
	}
	done := make(chan struct{})
	r := &pipeline.Request{Command: "SET", Args: []any{"k", ""}, Wait: true, Done: pipeline.CompletionFunc(func(*pipeline.Request) { close(done) })}
	if n.Pipe.Enqueue(r, 0) {
		n.Pipe.Flush()
		<-done
	}
	if r.Err != nil {
		return -1
	}
	return r.Replicas
}

// Both masters report the same own address to a client, as two containers may: that of a unix socket, each in its own
// folder. The former master's replicas are the next master and a replica of that one.
func TestReplicasAreCountedAnewAtAMasterOfTheSameInnerAddress(t *testing.T) {
	t.Parallel()
	const inner = "inner.sock"
	var nodes [3]redistest.Front
	for i := range nodes {
		nodes[i].Args = []string{"--unixsocket", inner}
	}
	set := redistest.StartSentinelsFronted(t, redistest.SentinelPasswords{}, nodes, [3]redistest.Front{})
	sockets := map[string]string{}
	for _, n := range set.Nodes {
		dir, err := redis.Strings(n.Dial(t).Do("CONFIG", "GET", "dir"))
		if err != nil {
			t.Fatal(err)
		}
		sockets[n.Addr()] = filepath.Join(dir[1], inner)
	}
	top := openSet(t, set.URL(), func(s *topology.Settings) {
		s.Replicas = true
		s.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if path := sockets[addr]; path != "" {
				network, addr = "unix", path
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
	})
	becomes(t, "both replicas are waited for", func() bool { return waitedFor(top) == 2 })
	if info, err := redis.String(send(t, top, "CLIENT", "INFO")); !strings.Contains(info, " laddr="+inner+":0 ") {
		t.Fatalf("the server's own address is not as the test wants it: %s, %v", info, err)
	}
	former := set.Master()
	set.AllowFailover()
	former.Kill()
	next := set.AwaitMaster(former)
	conn := next.Dial(t)
	becomes(t, "the next master has a replica", func() bool {
		info, err := redis.String(conn.Do("INFO", "replication"))
		return err == nil && strings.Contains(info, "connected_slaves:1\r\n") && strings.Contains(info, "state=online")
	})
	becomes(t, "that one is waited for", func() bool { return port(t, top) == next.Port() && waitedFor(top) == 1 })
}

// The client asks for the master before the failover, and its first connection is to the next one, which was the only
// replica then.
func TestReplicaThatIsTheFirstMasterIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	former, dead := set.Nodes[0], set.Nodes[1]
	dead.Kill()
	for _, s := range set.Sentinels {
		conn := s.Dial(t)
		becomes(t, "each Sentinel knows of one replica that is not down", func() bool {
			replicas, _ := redis.Values(conn.Do("SENTINEL", "REPLICAS", redistest.MasterName))
			return strings.Contains(fmt.Sprintf("%s", replicas), "s_down")
		})
	}
	former.Kill()
	top := openSet(t, set.URL(), func(s *topology.Settings) { s.Replicas = true })
	becomes(t, "that one is known, and the master is dead", func() bool {
		return waitedFor(top) < 0 && len(topology.Known(top, "")) == 1
	})
	set.AllowFailover()
	set.AwaitMaster(former)
	becomes(t, "nobody is waited for", func() bool { return waitedFor(top) == 0 })
}
