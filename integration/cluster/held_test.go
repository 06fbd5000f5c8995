package cluster_test

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/topologytest"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/watchdog"
)

var full = flag.Bool("full", false, "hold 100,000 locks, not 6,000")

// TestManyHoldsOverThreeMasters prints what many holds cost that are spread over all masters, and what as many cost that
// are of a few slots: renewals of different slots can't share a script.
func TestManyHoldsOverThreeMasters(t *testing.T) {
	holds, timeout := 6_000, 6*time.Second
	if *full {
		holds, timeout = 100_000, 30*time.Second
	}
	for form, with := range map[string]struct {
		few         int
		waits       bool
		connections int // once somebody waits for a lock of each master
	}{
		"spread over all slots":               {0, true, 3},
		"of thirty slots":                     {30, true, 3},
		"spread over all slots, without WAIT": {0, false, 2},
	} {
		t.Run(form, func(t *testing.T) {
			few := with.few
			c := topologytest.StartReplicated(t, 1, 1, 1)
			before := runtime.NumGoroutine()
			client := open(t, c, rlock.WithWatchdogTimeout(timeout), rlock.WithReplicaSync(with.waits))
			name := func(i int) string {
				if few > 0 {
					return fmt.Sprintf("{%d}:%d", i%few, i)
				}
				return fmt.Sprintf("held:%d", i)
			}
			began := time.Now()
			all := holdAll(t, client, holds, name)
			took := time.Since(began)
			goroutines := runtime.NumGoroutine() - before
			// Renewals go aside, and some are early to make room for others; a connection for subscriptions hears of changes.
			for i := range 3 {
				if n := named(t, c, i); n > with.connections {
					t.Errorf("server %d has %d connections, and nobody waits", i, n)
				}
			}
			runs := scriptsAThird(t, c, timeout/3)
			total := runs[0] + runs[1] + runs[2]
			for _, h := range all {
				if err := h.Err(); err != nil {
					t.Fatalf("%v: %v", h, err)
				}
			}
			t.Logf("%d holds acquired in %v; %d scripts a third, by server %v; %d goroutines more", holds, took.Round(time.Millisecond), total, runs, goroutines)
			if goroutines > 30 {
				t.Errorf("%d goroutines", goroutines)
			}
			// Each lease once a third; full batches where slots allow, but no more than half full in the worst case.
			most := holds + holds/10
			if few > 0 {
				most = 2 * (holds/few/watchdog.MaxBatch + 1) * few
			}
			if total > most || total == 0 {
				t.Errorf("%d scripts a third, want at most %d", total, most)
			}
			waitForEach(t, c, client, with.connections)
		})
	}
}

// scriptsAThird is how many each server runs in a third of the lease.
func scriptsAThird(t *testing.T, c *topologytest.Cluster, third time.Duration) (runs [3]int) {
	t.Helper()
	for i := range runs {
		runs[i] = -scripts(t, c, i)
	}
	const thirds = 2
	time.Sleep(thirds * third)
	for i := range runs {
		runs[i] = (runs[i] + scripts(t, c, i)) / thirds
	}
	return runs
}

func holdAll(t *testing.T, client *rlock.Client, n int, name func(int) string) []*rlock.Hold {
	t.Helper()
	all := make([]*rlock.Hold, n)
	var taking sync.WaitGroup
	const callers = 256
	for from := range callers {
		taking.Go(func() {
			for i := from; i < n; i += callers {
				h, err := client.NewLock(name(i)).Lock(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				all[i] = h
			}
		})
	}
	taking.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return all
}

// waitForEach has somebody wait on every master: each has so many connections then, and no more after.
func waitForEach(t *testing.T, c *topologytest.Cluster, client *rlock.Client, connections int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for _, name := range names() {
		if _, err := client.NewLock(name).Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		waiting.Go(func() {
			if _, err := client.NewLock(name).Lock(ctx); err == nil {
				t.Errorf("%s was entered", name)
			}
		})
	}
	for i := range 3 {
		becomes(t, fmt.Sprint(connections, " connections"), func() bool { return named(t, c, i) == connections })
	}
	cancel()
	waiting.Wait()
	for i := range 3 {
		if n := named(t, c, i); n > connections {
			t.Errorf("server %d has %d connections", i, n)
		}
	}
}

// named counts the clients' connections to a server.
func named(t *testing.T, c *topologytest.Cluster, server int) int {
	t.Helper()
	list, err := redis.String(c.Conn(server).Do("CLIENT", "LIST"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(list, " name=rlock ")
}

// scripts is how many a server ran.
func scripts(t *testing.T, c *topologytest.Cluster, server int) (n int) {
	t.Helper()
	info, err := redis.String(c.Conn(server).Do("INFO", "commandstats"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(info, "cmdstat_evalsha:calls=")
	if _, err := fmt.Sscan(strings.ReplaceAll(rest, ",", " "), &n); !found || err != nil {
		t.Fatalf("no count of scripts: %v", err)
	}
	return n
}

func becomes(t *testing.T, what string, state func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !state(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}
