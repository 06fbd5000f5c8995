package sentinels_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// onFirst is a name that the first of three masters has.
const onFirst = "replicas-1"

// Replicas go, come back, and are fed for the seconds that it takes by default. Clients from before and from after that
// enter meanwhile, holds are kept, and in the end the replica is waited for.
func TestLocksAreTakenAgainWhenTheReplicasAreGone(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T) (url string, master *redistest.Server, replicas []*redistest.Server){
		"Sentinel": func(t *testing.T) (string, *redistest.Server, []*redistest.Server) {
			set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
			master := set.Master()
			var replicas []*redistest.Server
			for _, n := range set.Nodes {
				if n != master {
					replicas = append(replicas, n)
				}
			}
			return set.URL(), master, replicas
		},
		"cluster": func(t *testing.T) (string, *redistest.Server, []*redistest.Server) {
			if codec.Slot(onFirst) >= 5461 {
				t.Fatal("the name is another master's")
			}
			c := topologytest.StartReplicated(t, 1, 1, 1)
			return c.ClusterURL(), c.Servers[0], []*redistest.Server{c.Servers[c.Replica(0)]}
		},
		"one server": func(t *testing.T) (string, *redistest.Server, []*redistest.Server) {
			set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
			return set.Nodes[0].URL(), set.Nodes[0], set.Nodes[1:]
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, master, replicas := start(t)
			admin := master.Dial(t)
			if _, err := admin.Do("CONFIG", "SET", "repl-diskless-sync-delay", 5); err != nil {
				t.Fatal(err)
			}
			open := func() *rlock.Client {
				return open(t, url, rlock.WithReplicaSync(true), rlock.WithWatchdogTimeout(9*time.Second))
			}
			old := open()
			kept := lock(t, old, "{"+onFirst+"}:kept")
			enter := func(what string, c *rlock.Client) {
				t.Helper()
				ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
				defer cancel()
				h, err := c.NewLock(onFirst).Lock(ctx)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				// Whether a replica has it is not the question.
				_ = h.Unlock(t.Context())
			}
			says := func(what string) bool {
				info, err := redis.String(admin.Do("INFO", "replication"))
				return err == nil && strings.Contains(info, what)
			}
			waits := func() bool {
				text, err := redis.String(admin.Do("INFO", "commandstats"))
				if err != nil {
					t.Fatal(err)
				}
				return strings.Contains(text, "cmdstat_wait:")
			}
			enter("all are there", old)
			if !waits() {
				t.Error("no replica was waited for")
			}
			for _, r := range replicas {
				r.Kill()
			}
			enter("none is there", old)
			enter("none is there, and the client is new", open())
			replicas[0].Restart()
			becomes(t, "it is fed", func() bool { return says("state=wait_bgsave") || says("state=online") })
			enter("one is fed", old)
			enter("one is fed, and the client is new", open())
			becomes(t, "one is there", func() bool { return says("state=online") })
			becomes(t, "it is waited for", func() bool {
				if _, err := admin.Do("CONFIG", "RESETSTAT"); err != nil {
					t.Fatal(err)
				}
				enter("one is there", old)
				return waits()
			})
			if err := kept.Err(); err != nil {
				t.Errorf("the standing hold: %v", err)
			}
		})
	}
}
