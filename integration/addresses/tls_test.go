package addresses_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

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
		s.ports = append(s.ports, redisserver.FreePort(t))
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
		if _, err := s.Conn(i).Do("CONFIG", "SET", "port", 0); err != nil {
			t.Fatal(err)
		}
		if conn, err := net.Dial("tcp", s.Servers[i].Addr()); err == nil {
			conn.Close()
			t.Fatalf("server %d has a port without TLS", i)
		}
		becomes(t, "every server knows the names", func() bool { return firstHost(t, s.Cluster, i) == "localhost" })
	}
	return s
}

// url has the first server only: it tells of the others.
func (s *secure) url() string { return fmt.Sprintf("redis+cluster://localhost:%d", s.ports[0]) }

func TestClusterOverTLSByHostName(t *testing.T) {
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

// What no further attempt would mend is told at once.
func TestClusterWhoseTLSIsWrongIsRefusedAtOnce(t *testing.T) {
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
