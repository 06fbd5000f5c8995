package timing

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

const oneServer = "10.0.0.1:6379" // the first of each topology, which is the master

// topologies make servers, and the rest of a URL behind its scheme. The first server has every key.
var topologies = map[string]func(w *simnet.World) (rest string){
	"one server": func(w *simnet.World) string { simredis.New(w, oneServer); return oneServer },
	"a socket":   func(w *simnet.World) string { simredis.New(w, oneServer); return "/run/redis.sock?db=0" },
	"Sentinels": func(w *simnet.World) string {
		_, rest, _ := strings.Cut(simredis.NewSet(w, 1, 3).URL(), "://")
		return rest
	},
	"a cluster": func(w *simnet.World) string {
		_, rest, _ := strings.Cut(simredis.NewCluster(w, 1, 0).URL(), "://")
		return rest
	},
	"listed nodes": func(w *simnet.World) string { simredis.NewSet(w, 1, 0); return oneServer + ",10.0.0.2:6379" },
}

// changing are words in errors that differ from client to client.
var changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}:\d+|o\d+\.`)

// Each public method does the same by every scheme, with TLS and without.
func TestEveryMethodWorksByEveryScheme(t *testing.T) {
	authority := redisserver.NewAuthority(t)
	cert, issued := authority.Issue(t, "redis.test"), time.Now()
	trust := &tls.Config{RootCAs: authority.Pool(), ServerName: "redis.test", Time: func() time.Time { return issued }}
	var want map[string]string // each call's error; "": none
	for _, row := range []struct {
		scheme, topology string
		tls              bool
	}{
		{"redis", "one server", false}, // the others are compared with it
		{"REDIS", "one server", false},
		{"valkey", "one server", false},
		{"rediss", "one server", true},
		{"valkeys", "one server", true},
		{"unix", "a socket", false},
		{"redis+sentinel", "Sentinels", false},
		{"redis+sentinel", "Sentinels", true},
		{"redis+cluster", "a cluster", false},
		{"redis+cluster", "a cluster", true},
		{"redis+replicated", "listed nodes", false},
		{"redis+replicated", "listed nodes", true},
	} {
		name := row.scheme
		if row.tls {
			name += " with TLS"
		}
		t.Run(name, func(t *testing.T) {
			if want != nil {
				t.Parallel()
			}
			synctest.Test(t, func(t *testing.T) {
				w := simnet.New(1)
				w.Mu.Lock()
				url := row.scheme + "://" + topologies[row.topology](w)
				w.Mu.Unlock()
				time.Sleep(3 * time.Second) // the Sentinels and the replica have found the master
				dial, opts := w.Dialer("10.1.0.1"), []rlock.Option{}
				if row.tls {
					dial, opts = secured(dial, cert), append(opts, rlock.WithTLSConfig(trust))
				}
				if row.tls && row.topology == "Sentinels" {
					opts = append(opts, rlock.WithSentinelTLSConfig(trust))
				}
				opts = append(opts, rlock.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
					if network == "unix" {
						addr = oneServer
					}
					return dial(ctx, network, addr)
				}))
				conn, err := redis.DialContext(t.Context(), "tcp", oneServer, redis.DialContextFunc(w.Dialer("10.1.0.2")))
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				got := map[string]string{}
				for _, m := range everyMethod(t, func(t *testing.T, more ...rlock.Option) *rlock.Client {
					c, err := rlock.Open(t.Context(), url, append(more, opts...)...)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { c.Close() })
					return c
				}, conn) {
					if slices.Contains(endless, m.method) {
						continue
					}
					err := m.do(t.Context())
					if got[m.what] = ""; err != nil {
						got[m.what] = changing.ReplaceAllString(err.Error(), "…")
					}
					if err != nil && !errors.Is(err, rlock.ErrNotLocked) && !errors.Is(err, rlock.ErrNotHeld) && !errors.Is(err, rlock.ErrNotOpen) {
						t.Errorf("%s: %v", m.what, err)
					}
					checkTruth(t, conn, m, err, false)
				}
				if want == nil {
					want = got
				}
				for _, what := range slices.Sorted(maps.Keys(want)) {
					if said, ok := got[what]; !ok || said != want[what] {
						t.Errorf("%s: %q, by redis:// %q", what, said, want[what])
					}
				}
			})
		})
	}
}

// secured puts TLS before the servers that dial reaches.
func secured(dial dialer, cert tls.Certificate) dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		server, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		client, end := net.Pipe()
		outer := tls.Server(end, &tls.Config{Certificates: []tls.Certificate{cert}})
		pass := func(to, from net.Conn) {
			_, _ = io.Copy(to, from)
			server.Close()
			end.Close()
		}
		go pass(server, outer)
		go pass(outer, server)
		return client, nil
	}
}
