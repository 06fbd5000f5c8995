package sentinels_test

import (
	"context"
	"errors"
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

// Replicas go, come back, and are fed for seconds, as by default. Clients from before and from after that
// enter meanwhile, holds are kept, and in the end the replica is waited for.
func TestLocksAreTakenAgainWhenTheReplicasAreGone(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T) (url string, master *redistest.Server, replicas []*redistest.Server){
		"Sentinel": func(t *testing.T) (string, *redistest.Server, []*redistest.Server) {
			set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
			for _, s := range set.Sentinels { // as by default: nobody may wait for them to call a replica down
				if _, err := s.Dial(t).Do("SENTINEL", "SET", redistest.MasterName, "down-after-milliseconds", 30000); err != nil {
					t.Fatal(err)
				}
			}
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
			// Whoever comes back is sent a full copy, and waits longer for it than by default: time to enter.
			for setting, value := range map[string]int{"repl-diskless-sync-delay": 10, "repl-backlog-size": 16 << 10} {
				if _, err := admin.Do("CONFIG", "SET", setting, value); err != nil {
					t.Fatal(err)
				}
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
			if _, err := admin.Do("SET", "{"+onFirst+"}:missed", strings.Repeat("x", 64<<10)); err != nil {
				t.Fatal(err)
			}
			replicas[0].Restart()
			becomes(t, "it is fed", func() bool { return says("state=wait_bgsave") })
			enter("one is fed", old)
			enter("one is fed, and the client is new", open())
			if says("state=online") {
				t.Error("nobody entered until it had been fed")
			}
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

// A client whose first master has no replica online counts those that the Sentinels know: they may be about to replace it.
// Those that are down replace nobody.
func TestReplicasThatTheSentinelsKnowAreWaitedForByANewClient(t *testing.T) {
	t.Parallel()
	for what, row := range map[string]struct {
		leaves func(*redistest.Server) error
		flag   string // what a Sentinel calls such a replica
		want   error
	}{
		"they left": {func(r *redistest.Server) error { _, err := r.Dial(t).Do("REPLICAOF", "NO", "ONE"); return err }, "", rlock.ErrUnreplicated},
		"they died": {func(r *redistest.Server) error { r.Kill(); return nil }, "s_down", nil},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
			set.AwaitSettled()
			for _, n := range set.Nodes {
				if n == set.Master() {
					continue
				}
				if err := row.leaves(n); err != nil {
					t.Fatal(err)
				}
			}
			for _, s := range set.Sentinels {
				conn := s.Dial(t)
				becomes(t, "each Sentinel knows", func() bool {
					replicas, err := redis.Values(conn.Do("SENTINEL", "REPLICAS", redistest.MasterName))
					marked := 0
					for _, r := range replicas {
						if m, err := redis.StringMap(r, nil); err == nil && strings.Contains(m["flags"], row.flag) {
							marked++
						}
					}
					return err == nil && marked == len(set.Nodes)-1
				})
			}
			_, err := open(t, set.URL()).NewLock("orders").TryLock(t.Context())
			if !errors.Is(err, row.want) {
				t.Errorf("got %v, want %v", err, row.want)
			}
			stats, err := redis.String(set.Master().Dial(t).Do("INFO", "commandstats"))
			if err != nil {
				t.Fatal(err)
			}
			// A grant counts up, and one that is given back down again.
			if once := strings.Contains(stats, "cmdstat_hincrby:calls=1,"); once != (row.want == nil) {
				t.Errorf("granted at once: %v", once)
			}
		})
	}
}
