package cluster_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
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
	works(t, c, "redis+cluster://"+net.JoinHostPort("::1", port)) // it names the others
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

// TestClusterThatDoesNotTellItsHosts shows that a client takes the host that it asked where a reply names none.
func TestClusterThatDoesNotTellItsHosts(t *testing.T) {
	t.Parallel()
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

// TestClusterOfOneServerThatDoesNotKnowItsHost has a server that does not know its address, since it has met no other.
func TestClusterOfOneServerThatDoesNotKnowItsHost(t *testing.T) {
	t.Parallel()
	c := topologytest.Start(t, 1)
	if host := firstHost(t, c, 0); host != "" {
		t.Fatalf("CLUSTER SLOTS tells %#v", host)
	}
	if err := open(t, c).NewLock("orders").Do(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
}

// firstHost returns the host that a server names for slot 0: nil, or a string.
func firstHost(t *testing.T, c *topologytest.Cluster, server int) any {
	t.Helper()
	for _, line := range testbed.Do(t, c.Conn(server), "CLUSTER", "SLOTS").([]any) {
		fields := line.([]any)
		if fields[0] != int64(0) {
			continue
		}
		host := fields[2].([]any)[0]
		if text, is := host.([]byte); is {
			return string(text)
		}
		return host
	}
	t.Fatal("nobody has slot 0")
	return nil
}

// secure is a cluster that speaks TLS only, by host name.
type secure struct {
	*topologytest.Cluster
	authority *redisserver.Authority
	ports     []int
}

// startSecure starts three masters, whose certificates are for localhost alone.
// With mutual they want a certificate of each client.
func startSecure(t *testing.T, mutual bool) *secure {
	t.Helper()
	s := &secure{authority: redisserver.NewAuthority(t)}
	cert, key, ca := s.authority.Write(t, t.TempDir(), s.authority.Issue(t, "localhost"))
	for range 3 {
		s.ports = append(s.ports, redistest.FreePort(t))
	}
	auth := map[bool]string{true: "yes", false: "no"}[mutual]
	s.Cluster = topologytest.StartFronted(t, func(i int) redistest.Front {
		return redistest.Front{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.ports[i])), Args: []string{
			"--tls-port", strconv.Itoa(s.ports[i]), "--tls-cluster", "yes", "--tls-replication", "yes", "--tls-auth-clients", auth,
			"--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", ca,
			"--cluster-preferred-endpoint-type", "hostname", "--cluster-announce-hostname", "localhost",
		}}
	}, 1, 1, 1)
	for i := range 3 {
		// The test's own connection was made before.
		testbed.Do(t, s.Conn(i), "CONFIG", "SET", "port", 0)
		if conn, err := net.Dial("tcp", s.Servers[i].Addr()); err == nil {
			conn.Close()
			t.Fatalf("server %d has a port without TLS", i)
		}
		testbed.Becomes(t, "every server knows the names", func() bool { return firstHost(t, s.Cluster, i) == "localhost" })
	}
	return s
}

// url has only the first server, which names the others.
func (s *secure) url() string { return fmt.Sprintf("redis+cluster://localhost:%d", s.ports[0]) }

func TestClusterOverTLSByHostName(t *testing.T) {
	t.Parallel()
	for name, mutual := range map[string]bool{"servers have certificates": false, "clients have, too": true} {
		t.Run(name, func(t *testing.T) {
			s := startSecure(t, mutual)
			c := &tls.Config{RootCAs: s.authority.Pool()}
			if mutual {
				c.Certificates = []tls.Certificate{s.authority.Issue(t)}
			}
			works(t, s.Cluster, s.url(), rlock.WithTLSConfig(c))
			for i := range 3 {
				if len(peers(t, s.Cluster, i)) == 0 {
					t.Errorf("no connection to server %d was seen: nothing was shown", i)
				}
			}
		})
	}
}

// TestClusterWhoseTLSIsWrongIsRefusedAtOnce shows that Open returns at once what no further attempt would mend.
func TestClusterWhoseTLSIsWrongIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	const timeout = 9 * time.Second
	s := startSecure(t, true)
	own := []tls.Certificate{s.authority.Issue(t)}
	for _, row := range []struct {
		what, url string
		c         *tls.Config
		want      string
	}{
		{"an authority that is not trusted", s.url(), &tls.Config{Certificates: own}, "certificate"},
		{"another host", strings.Replace(s.url(), "localhost", "127.0.0.1", 1), &tls.Config{RootCAs: s.authority.Pool(), Certificates: own}, "certificate"},
		{"no certificate of the client", s.url(), &tls.Config{RootCAs: s.authority.Pool()}, "certificate required"},
	} {
		began := time.Now()
		client, err := rlock.Open(t.Context(), row.url, rlock.WithTLSConfig(row.c), rlock.WithCommandTimeout(timeout))
		took := time.Since(began)
		if err == nil {
			client.Close()
		}
		if err == nil || took > timeout/3 || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: after %v: %v", row.what, took, err)
		}
	}
}
