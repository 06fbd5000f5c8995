package rlock_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

// set sets an environment variable to a server's address. Examples are shown alone, so they find a
// server as a reader would.
func set(name, value string) {
	if err := os.Setenv(name, value); err != nil {
		log.Fatal(err)
	}
}

// shared is the server that the examples and benchmarks share.
var shared *redistest.Server

func serveExamples() {
	shared = redistest.Start(redistest.Examples)
	set("REDIS_URL", shared.URL())
}

// Examples run after all tests. Until then the servers that only some of them need have time to
// start.
func TestServersOfTheExamplesStart(t *testing.T) {
	t.Parallel()
	serveAllExamples()
}

// serveAllExamples starts those servers.
func serveAllExamples() {
	s := shared
	if _, err := s.Dial(redistest.Examples).Do("ACL", "SETUSER", "worker", "on", ">of-today", "+@all", "~*", "&*"); err != nil {
		log.Fatal(err)
	}
	master, replica := replicated()
	set("REDIS_MASTER_URL", master)
	set("REDIS_REPLICA_URL", replica)
	set("REDIS_CLUSTER_URL", topologytest.Start(redistest.Examples, 1, 1).ClusterURL())
	set("REDIS_SENTINEL_URL", "redis+sentinel://"+sentinel(s.Addr(), "mellon")+"/orders")

	addr, ca := encrypted(s.Addr())
	set("REDIS_TLS_URL", "rediss://"+addr)
	addr, _ = encrypted(sentinel(s.Addr(), ""))
	set("REDIS_SENTINEL_TLS_URL", "redis+sentinel://"+addr+"/orders")
	file := filepath.Join(redistest.Examples.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw}), 0o600); err != nil {
		log.Fatal(err)
	}
	set("REDIS_CA", file)
}

// replicated starts a master with a replica that follows it.
func replicated() (master, replica string) {
	m := redistest.Start(redistest.Examples)
	return m.URL(), m.StartReplica(redistest.Examples).URL()
}

// sentinel starts a Sentinel that calls the server "orders". An empty password means none.
func sentinel(server, password string) (addr string) {
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		log.Fatal(err)
	}
	settings := []string{fmt.Sprintf("sentinel monitor orders %s %s 1", host, port)}
	if password != "" {
		settings = append(settings, "requirepass "+password)
	}
	return redistest.StartSentinel(redistest.Examples, password, settings...).Addr()
}

// encrypted starts a TLS proxy for the server at plain, and returns the certificate of its
// authority.
func encrypted(plain string) (addr string, ca *x509.Certificate) {
	web := httptest.NewTLSServer(nil) // for its certificate only
	ca, key := web.Certificate(), web.TLS.Certificates
	web.Close()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: key})
	if err != nil {
		log.Fatal(err)
	}
	var all sync.WaitGroup
	redistest.Examples.Cleanup(func() { listener.Close(); all.Wait() })
	all.Go(func() {
		for {
			outer, err := listener.Accept()
			if err != nil {
				return
			}
			inner, err := net.Dial("tcp", plain)
			if err != nil {
				log.Fatal(err)
			}
			all.Go(func() { _, _ = io.Copy(inner, outer); inner.Close() })
			all.Go(func() { _, _ = io.Copy(outer, inner); outer.Close() })
		}
	})
	return listener.Addr().String(), ca
}
