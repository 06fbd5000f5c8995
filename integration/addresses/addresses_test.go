package addresses_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
)

func TestClusterByIPv6(t *testing.T) {
	if l, err := net.Listen("tcp6", "[::1]:0"); err != nil {
		t.Skipf("not tried, since there is no IPv6 here: %v", err)
	} else {
		l.Close()
	}
	c := topologytest.StartFronted(t, func(int) redistest.Front {
		return redistest.Front{Args: []string{"--bind", "127.0.0.1", "::1", "--cluster-announce-ip", "::1"}}
	}, 1, 1, 1)
	if host := firstHost(t, c, 0); host != "::1" {
		t.Fatalf("the cluster announces %v", host)
	}
	_, port, _ := net.SplitHostPort(c.Servers[0].Addr())
	works(t, c, "redis+cluster://"+net.JoinHostPort("::1", port)) // it tells of the others
	for i := range 3 {
		for _, addr := range peers(t, c, i) {
			if !strings.HasPrefix(addr, "[::1]:") {
				t.Errorf("server %d has a client at %s", i, addr)
			}
		}
	}
	if len(peers(t, c, 2)) == 0 {
		t.Error("no connection to the last server was seen: nothing was shown")
	}
}

// Where the host is not told, it is the one that was asked.
func TestClusterThatDoesNotTellItsHosts(t *testing.T) {
	for _, row := range []struct {
		name, endpoint string
		slots          any    // the host of CLUSTER SLOTS
		moved          string // that of MOVED
	}{
		{"nil", "unknown-endpoint", nil, ""},
		{"a question mark", "hostname", "?", "?"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := topologytest.StartFronted(t, func(int) redistest.Front {
				return redistest.Front{Args: []string{"--cluster-preferred-endpoint-type", row.endpoint}}
			}, 1, 1, 1)
			if host := firstHost(t, c, 0); host != row.slots {
				t.Fatalf("CLUSTER SLOTS tells %#v, want %#v", host, row.slots)
			}
			_, err := c.Conn(0).Do("GET", nameOf(1))
			_, port, _ := net.SplitHostPort(c.Servers[1].Addr())
			if want := fmt.Sprintf("MOVED %d %s:%s", codec.Slot(nameOf(1)), row.moved, port); err == nil || err.Error() != want {
				t.Fatalf("got %v, want %s", err, want)
			}
			works(t, c, "redis+cluster://"+c.Servers[0].Addr())
		})
	}
}

// A server that nobody has told its address does not know it.
func TestClusterOfOneServerThatDoesNotKnowItsHost(t *testing.T) {
	c := topologytest.Start(t, 1)
	if host := firstHost(t, c, 0); host != "" {
		t.Fatalf("CLUSTER SLOTS tells %#v", host)
	}
	h, err := open(t, c.ClusterURL()).NewLock("orders").Lock(t.Context())
	if err == nil {
		err = h.Unlock(t.Context())
	}
	if err != nil {
		t.Error(err)
	}
}

// firstHost is what a server tells of the one that has slot 0: nil, or a string.
func firstHost(t *testing.T, c *topologytest.Cluster, server int) any {
	t.Helper()
	lines, err := redis.Values(c.Conn(server).Do("CLUSTER", "SLOTS"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		fields := line.([]any)
		if fields[0] != int64(0) {
			continue
		}
		switch host := fields[2].([]any)[0].(type) {
		case []byte:
			return string(host)
		default:
			return host
		}
	}
	t.Fatal("nobody has slot 0")
	return nil
}
