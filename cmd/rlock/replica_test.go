package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// While a master is dead, --read-only reads its replica, and each screen says so. Without it nothing is shown.
func TestReplicaOfADeadMasterIsRead(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T) (url, replicas string, dies func(lock string) *redistest.Server){
		"Sentinels": func(t *testing.T) (string, string, func(string) *redistest.Server) {
			set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
			master, replicas := set.Master(), ""
			for _, n := range set.Nodes {
				if n != master {
					replicas += n.Addr() + " "
				}
			}
			return set.URL(), replicas, func(string) *redistest.Server {
				for _, s := range set.Sentinels[:2] { // so that nobody fails over
					s.Kill()
				}
				return master
			}
		},
		"replicated": func(t *testing.T) (string, string, func(string) *redistest.Server) {
			set := redistest.StartReplicated(t, 1)
			return set.URL(), set.Nodes[1].Addr(), func(string) *redistest.Server { return set.Nodes[0] }
		},
		"cluster": func(t *testing.T) (string, string, func(string) *redistest.Server) {
			c := topologytest.StartReplicatedFronted(t, 0, func(int) redistest.Front {
				return redistest.Front{Args: []string{"--cluster-require-full-coverage", "no", "--cluster-replica-no-failover", "yes"}}
			}, 1, 1, 1)
			shard := c.MasterOf(codec.Slot("orders"))
			return c.ClusterURL(), c.Servers[c.Replica(shard)].Addr(), func(string) *redistest.Server { return c.Servers[shard] }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, replicas, dies := start(t)
			c := open(t, url, rlock.WithReplicaSync(true))
			h := acquire(t, c.NewLock("orders"), rlock.Lease(10*patience))
			watches := begin(t, url, "watch", "--read-only", "orders")
			watches.says("held         orders")
			master := dies("orders")
			c.Close()
			master.Kill()
			watches.says("  replica ")
			for _, args := range [][]string{{"show", "orders"}, {"held", "orders"}} {
				ended(t, unreachable, url, args...)
			}
			said := func(out string) {
				t.Helper()
				_, after, _ := strings.Cut(out, "read from the replica ")
				addr, after, _ := strings.Cut(after, ",")
				if addr == "" || !strings.Contains(replicas, addr) || !strings.Contains(after, "which may lack the latest changes") || !strings.Contains(after, master.Addr()) {
					t.Errorf("it does not say that it read one of %s: %s", replicas, out)
				}
			}
			for _, args := range [][]string{{"ls"}, {"show", "orders"}, {"held", "orders"}, {"watch", "--for", "300ms"}} {
				out := ended(t, 0, url, append(args, "--read-only")...)
				said(out)
				if !strings.Contains(out, h.Owner().String()) || strings.Contains(out, "nobody") {
					t.Errorf("%q: %s", args, out)
				}
				var all []state
				c := begin(t, url, append(args, "--read-only", "-o", "json")...)
				if got := c.status(); got != 0 {
					t.Fatalf("%q: status %d: %s", args, got, &c.err)
				}
				text := strings.TrimSpace(c.out.String())
				switch args[0] {
				case "watch":
					if strings.Contains(text, `"event":"held"`) && strings.Contains(text, `"replica":"`) && strings.Contains(text, `"event":"replica"`) {
						continue
					}
				case "show", "held":
					text = "[" + text + "]"
				}
				if err := json.Unmarshal([]byte(text), &all); err != nil || len(all) != 1 || !strings.Contains(replicas, all[0].Replica) || all[0].Replica == "" ||
					all[0].Listening != nil || all[0].Holders[0].Owner != h.Owner().String() || *all[0].TTL <= 0 {
					t.Errorf("%q: %s, %v", args, text, err)
				}
			}
			for _, o := range []string{"text", "json"} {
				out := ended(t, 1, url, "doctor", "--read-only", "-o", o)
				said(out)
				if strings.Contains(out, "no replica:") || strings.Contains(out, "a lock was taken") {
					t.Error(out)
				}
			}
			if name == "cluster" { // the account may not
				for _, addr := range strings.Fields(replicas) {
					conn, err := redis.Dial("tcp", addr)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := conn.Do("ACL", "SETUSER", "default", "-readonly"); err != nil {
						t.Fatal(err)
					}
					conn.Close()
				}
				if out := ended(t, partial, url, "ls", "--read-only"); !strings.Contains(out, "refused READONLY") {
					t.Error(out)
				}
			}
			master.Restart()
			watches.says("  master ")
			if err := watches.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = watches.Wait()
		})
	}
}

// A URL of one server may lead to a replica.
func TestReplicaByItsOwnURLIsRead(t *testing.T) {
	t.Parallel()
	set := redistest.StartReplicated(t, 1)
	h := acquire(t, open(t, set.URL(), rlock.WithReplicaSync(true)).NewLock("orders"))
	for _, args := range [][]string{{"ls"}, {"show", "orders"}, {"held", "orders"}, {"watch", "--for", "300ms"}} {
		out := ended(t, 0, set.Nodes[1].URL(), append(args, "--read-only")...)
		if !strings.Contains(out, h.Owner().String()) || !strings.Contains(out, "read from the replica "+set.Nodes[1].Addr()) {
			t.Errorf("%q: %s", args, out)
		}
		if out := ended(t, 0, set.URL(), append(args, "--read-only")...); strings.Contains(out, "replica") {
			t.Errorf("%q: the master lives: %s", args, out)
		}
	}
	c := topologytest.StartReplicated(t, 1)
	ended(t, unreachable, c.Servers[1].URL(), "ls", "--read-only") // it has a part of the locks
}
