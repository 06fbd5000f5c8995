package rlock_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// redisURL is the server that the examples share. The first one starts it.
var redisURL = sync.OnceValue(func() string { return redistest.Start(redistest.Examples).URL() })

// connect gives the client that most examples use; rlock.Open's example shows
// how one is made.
var connect = sync.OnceValue(func() *rlock.Client { return connectWith() })

// connectWith gives a client with options of its own. It stands for another
// process, too.
func connectWith(opts ...rlock.Option) *rlock.Client {
	client, err := rlock.Open(context.Background(), redisURL(), opts...)
	if err != nil {
		log.Fatal(err)
	}
	redistest.Examples.Cleanup(func() { client.Close() })
	return client
}

// replicated starts a master with a replica that follows it.
func replicated() (master string, replica redis.Conn) {
	m := redistest.Start(redistest.Examples, "--repl-diskless-sync-delay", "0")
	r := redistest.Start(redistest.Examples, "--replicaof", "127.0.0.1", fmt.Sprint(m.Port()))
	conn := m.Dial(redistest.Examples)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		info, err := redis.String(conn.Do("INFO", "replication"))
		if err == nil && strings.Contains(info, "state=online") {
			return m.URL(), r.Dial(redistest.Examples)
		}
		if time.Now().After(deadline) {
			log.Fatal("the replica does not follow: ", info, err)
		}
	}
}

// sentinel starts a Sentinel of the examples' server, which it calls orders. An
// empty password is none.
func sentinel(password string) (addr string) {
	host, port, err := net.SplitHostPort(strings.TrimPrefix(redisURL(), "redis://"))
	if err != nil {
		log.Fatal(err)
	}
	settings := []string{fmt.Sprintf("sentinel monitor orders %s %s 1", host, port)}
	if password != "" {
		settings = append(settings, "requirepass "+password)
	}
	return redistest.StartSentinel(redistest.Examples, password, settings...).Addr()
}

// encrypted puts TLS before the examples' server and returns the certificate
// that vouches for it.
func encrypted() (url string, ca *x509.Certificate) {
	addr, ca := encryptedAt(strings.TrimPrefix(redisURL(), "redis://"))
	return "rediss://" + addr, ca
}

// encryptedAt puts TLS before the server at plain.
func encryptedAt(plain string) (addr string, ca *x509.Certificate) {
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
