package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// place is a topology of real servers.
type place struct {
	url     string
	servers []*redistest.Server
	lose    func() // has a master die
}

var places = map[string]func(t *testing.T) place{
	"single server with a replica": func(t *testing.T) place {
		master := redisserver.Local(t)
		replica := redisserver.Replica(t, master)
		return place{master.URL(), []*redistest.Server{master.Server, replica.Server}, master.Kill}
	},
	"Sentinel": func(t *testing.T) place {
		s := redistest.StartSentinels(t, redistest.SentinelPasswords{})
		return place{s.URL(), append(s.Nodes[:3:3], s.Sentinels...), s.Master().Kill}
	},
	"Cluster": func(t *testing.T) place {
		c := topologytest.StartReplicated(t, 1, 1, 1)
		return place{c.ClusterURL(), c.Servers, c.Servers[1].Kill}
	},
}

// TestCloseLeavesNothing closes clients that hold and wait: when all is well, and just when a master has died.
func TestCloseLeavesNothing(t *testing.T) {
	for name, start := range places {
		for when, dies := range map[string]bool{"all is well": false, "a master dies": true} {
			t.Run(name+", "+when, func(t *testing.T) {
				p := start(t)
				before := p.clients(t)
				goroutines := runtime.NumGoroutine()
				var waiting sync.WaitGroup
				told := new(troubles)
				closeAll := p.use(t, &waiting, told)
				if dies {
					p.lose()
					if !testbed.Eventually(func() bool { return told.failed.Load() > 0 }) {
						t.Fatal("no client tried to connect to the master that died")
					}
				}
				closeAll()
				waiting.Wait()
				if !testbed.Within(time.Second, func() bool { return runtime.NumGoroutine() <= goroutines }) {
					stacks := make([]byte, 64<<10)
					t.Errorf("%d goroutines, before %d:\n%s", runtime.NumGoroutine(), goroutines, stacks[:runtime.Stack(stacks, true)])
				}
				var left map[string]string
				if !testbed.Eventually(func() bool {
					left = p.clients(t)
					maps.DeleteFunc(left, func(id, _ string) bool { return before[id] != "" })
					return len(left) == 0
				}) {
					t.Errorf("connections are left: %v", left)
				}
			})
		}
	}
}

// troubles is a log that counts attempts to connect in vain: connections have ended, and others are tried.
type troubles struct {
	slog.Handler
	failed atomic.Int32
}

func (l *troubles) Enabled(context.Context, slog.Level) bool { return true }
func (l *troubles) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *troubles) WithGroup(string) slog.Handler            { return l }
func (l *troubles) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "cannot connect" {
		l.failed.Add(1)
	}
	return nil
}

// use has two clients hold locks on all masters, and wait for one another's. The function closes them.
func (p place) use(t *testing.T, waiting *sync.WaitGroup, told *troubles) (closeAll func()) {
	t.Helper()
	var clients [2]*rlock.Client
	for i := range clients {
		c, err := rlock.Open(t.Context(), p.url, rlock.WithReplicaSync(true), rlock.WithCommandTimeout(time.Second), rlock.WithLogger(slog.New(told)))
		if err != nil {
			t.Fatal(err)
		}
		clients[i] = c
	}
	for i := range 24 {
		name := fmt.Sprintf("leak%d", i)
		if _, err := clients[i%2].NewLock(name).Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		waiting.Go(func() {
			if _, err := clients[1-i%2].NewLock(name).Lock(context.Background()); err == nil && !strings.Contains(p.url, "sentinel") && !strings.Contains(p.url, "cluster") {
				t.Errorf("%s was entered", name)
			}
		})
	}
	mine := func() (n int) {
		for _, line := range p.clients(t) {
			if strings.Contains(line, " name=rlock ") {
				n++
			}
		}
		return n
	}
	if !testbed.Eventually(func() bool { return mine() >= 4 }) {
		t.Fatalf("%d connections are named after the clients: nothing would be found", mine())
	}
	return func() {
		for _, c := range clients {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// clients are the connections of all servers that run but those among servers, and the test's own.
func (p place) clients(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, s := range p.servers {
		if s.Pid() == 0 {
			continue
		}
		conn, err := redis.Dial("tcp", s.Addr(), redis.DialReadTimeout(5*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		own, err := redis.Int64(conn.Do("CLIENT", "ID"))
		if err != nil {
			t.Fatal(err)
		}
		list, err := redis.String(conn.Do("CLIENT", "LIST"))
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		for line := range strings.Lines(list) {
			id := fmt.Sprintf("%s id %s", s.Addr(), strings.Fields(line)[0])
			among := strings.Contains(line, " flags=S ") || strings.Contains(line, " flags=M ") || strings.Contains(line, " name=sentinel-") ||
				strings.Contains(line, " cmd=replconf ") || strings.Contains(line, " cmd=psync ")
			if !among && !strings.HasPrefix(line, fmt.Sprintf("id=%d ", own)) {
				all[id] = strings.TrimSpace(line)
			}
		}
	}
	return all
}
