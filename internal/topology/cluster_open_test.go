package topology_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/internal/topology"
)

func TestServerThatIsNoCluster(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	top, err := topology.Open("redis+cluster://"+s.Addr(), topology.Settings{Timeout: timeout, Clock: clock.System()})
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close(0)
	redistest.Becomes(t, "it says why", func() bool {
		_, err := top.Node(0)
		return err != nil && strings.Contains(err.Error(), "it is no node of a cluster")
	})
}

// The map is known, but its only master does not answer.
func TestClusterWhoseMastersAreSilentIsNotProved(t *testing.T) {
	t.Parallel()
	c := topologytest.Start(t, 1)
	var silent atomic.Bool
	top, err := topology.Open(c.ClusterURL(), topology.Settings{Timeout: timeout, Clock: clock.System(),
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if !silent.Load() {
				return new(net.Dialer).DialContext(ctx, network, addr)
			}
			near, far := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, far) }()
			return near, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close(0)
	redistest.Becomes(t, "the map is known", func() bool { _, err := top.Node(0); return err == nil })
	silent.Store(true)
	if err := top.(*topology.Cluster).Prove(t.Context()); err == nil {
		t.Error("it is proved by nobody")
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout/4)
	defer cancel()
	if err := top.(*topology.Cluster).Prove(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the caller's context is over, and the error is %v", err)
	}
}

// The servers have the new password before the credentials function has it.
func TestCredentialsThatAClusterRefusesAreAskedForAgain(t *testing.T) {
	t.Parallel()
	c := topologytest.Start(t, 1, 1, 1)
	for i := range 3 {
		if _, err := c.Conn(i).Do("ACL", "SETUSER", "worker", "reset", "on", ">two", "+@all", "~*", "&*"); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex // guards the connections to the servers
	refused := func(server int) bool {
		mu.Lock()
		defer mu.Unlock()
		return topologytest.Calls(t, c.Conn(server), "auth") > 0
	}
	for _, name := range []string{"soon", "never"} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			s := topology.Settings{Timeout: timeout, Clock: clock.System(), Credentials: func(context.Context) (string, string, error) {
				if asked.Add(1); name == "soon" && refused(0) && refused(1) && refused(2) {
					return "worker", "two", nil
				}
				return "worker", "one", nil
			}}
			if name == "soon" {
				s.Timeout = farOff
			}
			top, err := topology.Open(c.ClusterURL(), s)
			if err != nil {
				t.Fatal(err)
			}
			defer top.Close(0)
			err = top.(*topology.Cluster).Prove(t.Context())
			if name == "soon" && err != nil {
				t.Errorf("refused for good: %v, asked %d times", err, asked.Load())
			}
			if name == "never" && (err == nil || !strings.Contains(err.Error(), "WRONGPASS") || asked.Load() < 5) {
				t.Errorf("asked %d times: %v", asked.Load(), err)
			}
		})
	}
}
