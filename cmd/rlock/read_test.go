package main

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// everywhere runs a test on each topology, with the servers that the tool may read.
func everywhere(t *testing.T, test func(t *testing.T, url string, servers []*redistest.Server)) {
	for name, start := range map[string]func(t *testing.T) (url string, servers []*redistest.Server){
		"single": func(t *testing.T) (string, []*redistest.Server) {
			s := redistest.Start(t)
			return s.URL(), []*redistest.Server{s}
		},
		"Sentinels": func(t *testing.T) (string, []*redistest.Server) {
			set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
			return set.URL(), set.Nodes
		},
		"replicated": func(t *testing.T) (string, []*redistest.Server) {
			set := redistest.StartReplicated(t, 1)
			return set.URL(), set.Nodes
		},
		"cluster": func(t *testing.T) (string, []*redistest.Server) {
			c := topologytest.StartReplicated(t, 1, 1)
			return c.ClusterURL(), c.Servers
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, servers := start(t)
			test(t, url, servers)
		})
	}
}

// shown returns what show prints about a name.
func shown(t *testing.T, url, name string) (s state) {
	t.Helper()
	if err := json.Unmarshal([]byte(ended(t, 0, url, "show", "-o", "json", name)), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// reads are the only commands that a tool which changes nothing may send.
var reads = strings.Fields("HELLO DBSIZE TYPE PTTL HLEN STRLEN GET LRANGE ZRANGE ZCARD PUBSUB TIME HSCAN SCAN ROLE CLIENT CLUSTER")

// everyKind acquires a lock of every kind, waits for some, and returns a check of each one's state.
func everyKind(t *testing.T, url string) map[string]func(s state) bool {
	t.Helper()
	c, other := open(t, url), open(t, url)
	must := func(_ bool, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	hold := acquire(t, c.NewLock("a plain"))
	acquire(t, c.NewLock("a plain"), rlock.As(hold.Owner()))
	tagged, fencing := acquire(t, c.NewLock("x{tag}y")), acquire(t, c.NewFencedLock("fenced"))
	reading, writing := acquire(t, c.NewReadWriteLock("read").ReadLock()), acquire(t, c.NewReadWriteLock("write").WriteLock())
	acquire(t, other.NewReadWriteLock("read").ReadLock())
	first := acquire(t, c.NewFairLock("fair"))
	fairly := other.NewFairLock("fair")
	for n := range 2 {
		enter(t, fairly)
		becomes(t, "a place in the queue", func() bool { i, err := fairly.Info(t.Context()); return err == nil && i.Waiters == n+1 }, nothing)
	}
	enter(t, other.NewLock("x{tag}y"))
	becomes(t, "a waiter listens", func() bool {
		i, err := c.NewLock("x{tag}y").Info(t.Context())
		return err == nil && i.Waiters == 1
	}, nothing)
	must(c.NewPermitSemaphore("permits").TrySetPermits(t.Context(), 3))
	taken, err := c.NewPermitSemaphore("permits").TryAcquire(t.Context(), 1, rlock.Lease(patience*10))
	must(false, err)
	must(c.NewSemaphore("semaphore").TrySetPermits(t.Context(), 5))
	must(c.NewCountDownLatch("latch").TrySetCount(t.Context(), 2))
	owns := func(s state, h *rlock.Hold) bool {
		return slices.ContainsFunc(s.Holders, func(o holder) bool { return o.Owner == h.Owner().String() })
	}
	return map[string]func(s state) bool{
		"a plain": func(s state) bool {
			return s.Kind == plain && len(s.Holders) == 1 && owns(s, hold) && s.Holders[0].Count == 2 && *s.TTL > 10000 && *s.TTL <= 30000
		},
		"x{tag}y": func(s state) bool { return s.Kind == plain && owns(s, tagged) && s.Listening.Plain == 1 },
		"fenced":  func(s state) bool { return s.Kind == fenced && owns(s, fencing) && *s.Token == fencing.Token() },
		"read":    func(s state) bool { return s.Mode == "read" && len(s.Holders) == 2 && owns(s, reading) },
		"write":   func(s state) bool { return s.Mode == "write" && owns(s, writing) && s.Holders[0].Write },
		"fair": func(s state) bool {
			return s.Kind == fair && owns(s, first) && len(s.Queue) == 2 && *s.Queue[0].Left < *s.Queue[1].Left
		},
		"permits": func(s state) bool {
			return s.Kind == permits && *s.Number == 2 && s.Holders[0].Owner == taken.IDs()[0] && *s.Holders[0].Expiry > 10000
		},
	}
}

// A server that the Sentinels name, but that is no master, is not read as one.
func TestFormerMasterIsNotAsked(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	master := set.Master()
	other := set.Nodes[0]
	if other == master {
		other = set.Nodes[1]
	}
	host, port, err := net.SplitHostPort(other.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := master.Dial(t).Do("REPLICAOF", host, port); err != nil { // which the Sentinels do not know yet
		t.Fatal(err)
	}
	if out := ended(t, unreachable, set.URL(), "show", "lock"); !strings.Contains(out, "no master") {
		t.Error(out)
	}
}

func TestEveryKindIsShownAndNothingChanged(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, url string, servers []*redistest.Server) {
		kinds := everyKind(t, url)
		keys := admin(t, url, servers)
		for i := range 30 { // hashes that are no locks
			if _, err := keys.Do("HSET", fmt.Sprint("session", i), "user", i); err != nil {
				t.Fatal(err)
			}
		}
		taps := tapped(t, servers)
		var list []state
		if err := json.Unmarshal([]byte(ended(t, 0, url, "ls", "-o", "json")), &list); err != nil {
			t.Fatal(err)
		}
		if len(list) != len(kinds) {
			t.Errorf("ls shows %d, not %d: %+v", len(list), len(kinds), list)
		}
		for _, s := range list {
			if is := kinds[s.Name]; is == nil || !is(s) {
				t.Errorf("ls: %+v", s)
			}
		}
		for name, is := range kinds {
			if s := shown(t, url, name); !is(s) {
				t.Errorf("show: %+v", s)
			}
		}
		for name, want := range map[string]string{"none": "holder   none", "session1": "no lock", "semaphore": "number   5", "latch": "number   2"} {
			if out := ended(t, 0, url, "show", name); !strings.Contains(out, want) {
				t.Errorf("show %s: %s", name, out)
			}
		}
		if out := ended(t, 0, url, "ls", "--match", "f*[rd]"); strings.Count(out, "\n") != 3 {
			t.Errorf("ls --match: %s", out)
		}
		if out := ended(t, 0, url, "ls", "--numbers"); strings.Count(out, "\n") != len(kinds)+3 {
			t.Errorf("ls --numbers: %s", out)
		}
		if out := ended(t, 0, url, "watch", "--for", "300ms", "--every", "100ms"); strings.Count(out, "held") < len(kinds) {
			t.Errorf("watch: %s", out)
		}
		ours := 0
		for _, tap := range taps {
			tools := map[string]bool{} // the tool's connections, known by their first command
			for _, line := range tap.Mark() {
				if line.Is("CLIENT") && len(line.Args) == 3 && line.Args[2] == "rlock-cli" {
					tools[line.From] = true
					ours++
				} else if tools[line.From] && !slices.ContainsFunc(reads, line.Is) || line.Is("CLIENT") && tools[line.From] && line.Args[1] != "LIST" {
					t.Errorf("sent: %s", line)
				}
			}
		}
		if ours == 0 {
			t.Error("MONITOR saw nothing")
		}
	})
}

// The tool reads no master while two nodes of a URL say that they are masters, and follows a change of their roles.
func TestTwoMastersOfAURLAreNotRead(t *testing.T) {
	t.Parallel()
	set := redistest.StartReplicated(t, 1)
	first, second := set.Nodes[0], set.Nodes[1]
	acquire(t, open(t, set.URL()).NewLock("orders"))
	set.Detach(second)
	if out := ended(t, unreachable, set.URL(), "show", "orders"); !strings.Contains(out, first.Addr()+" and "+second.Addr()+" are both masters") {
		t.Error(out)
	}
	set.Follow(first, second)
	set.AwaitReplicas(second, 1)
	if s := shown(t, set.URL(), "orders"); len(s.Holders) != 1 {
		t.Errorf("%+v", s)
	}
}
