package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// times matches what differs between two runs: times of day, durations and the ages of connections.
var times = regexp.MustCompile(`\d\d:\d\d:\d\d\.\d+|(\d+(\.\d+)?(h|ms|m|µs|s))+|\d+ s\b|TTL +`)

// asked lists commands that the tool sends to one server, as ACL writes them.
var asked = strings.Fields("dbsize type pttl hlen strlen get lrange zrange zcard pubsub|numsub pubsub|shardnumsub pubsub|channels pubsub|shardchannels time hscan scan role client|list client|setname ping info wait acl|whoami acl|dryrun")

// An account lacks one command at a time. Each command of the tool prints what it prints with all rights, or names the refused
// command and says by its status that its output is not all.
func TestARefusedCommandIsNamed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	everyKind(t, s.URL())
	waitFor(t, s.URL(), "exhausted")
	url := oncall(s)
	runs := [][]string{{"ls"}, {"ls", "--numbers"}, {"watch", "--for", "100ms"}, {"held", "permits"}, {"held", "a plain"}, {"held", "none"}, {"doctor", "--read-only"},
		{"show", "permits"}, {"show", "fair"}, {"show", "fenced"}, {"show", "semaphore"}, {"show", "exhausted"}, {"permits", "permits", "set", "3", "--yes"}}
	type result struct {
		status int
		text   string
	}
	try := func(args []string) result {
		c := begin(t, url, args...)
		status := c.status()
		return result{status, strings.Join(strings.Fields(times.ReplaceAllString(c.out.String()+c.err.String(), "")), " ")}
	}
	rights(t, s)
	complete := map[string]result{}
	for _, args := range runs {
		complete[fmt.Sprint(args)] = try(args)
	}
	for _, command := range asked {
		rights(t, s, "-"+command)
		for _, args := range runs {
			got, want := try(args), complete[fmt.Sprint(args)]
			if got == want {
				continue
			}
			named := strings.Contains(strings.ToLower(strings.ReplaceAll(got.text, "|", " ")), strings.ReplaceAll(command, "|", " "))
			if doctor := args[0] == "doctor"; !named || !doctor && got.status != partial && got.status != unreachable {
				t.Errorf("without %s, %q ends with %d and prints\n%s\ninstead of %d,\n%s", command, args, got.status, got.text, want.status, want.text)
			}
		}
	}
}

// oncall returns the URL of an account that rights can change.
func oncall(s *redistest.Server) string {
	return strings.Replace(s.URL(), "redis://", "redis://oncall:secret@", 1)
}

// rights gives the account all rights, changed by some rules.
func rights(t *testing.T, s *redistest.Server, rules ...string) {
	t.Helper()
	args := []any{"SETUSER", "oncall", "reset", "on", ">secret", "&*", "+@all"}
	if len(rules) == 0 || !strings.Contains(rules[0], "~") {
		args = append(args, "~*")
	}
	for _, rule := range rules {
		args = append(args, rule)
	}
	if _, err := s.Dial(t).Do("ACL", args...); err != nil {
		t.Fatal(err)
	}
}

// waitFor exhausts a semaphore and has a client wait for it.
func waitFor(t *testing.T, url, name string) {
	t.Helper()
	sem := open(t, url).NewSemaphore(name)
	if _, err := sem.TrySetPermits(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = sem.Acquire(t.Context(), 1) // the test ends it
	}()
	t.Cleanup(func() { <-done })
	becomes(t, "it waits", func() bool { st := shown(t, url, name); return st.waiting() == 1 }, nothing)
}

// An account that may read some keys only sees their locks. The others are counted and named.
func TestKeysThatMayNotBeReadAreNamed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL())
	for _, name := range []string{"mine", "theirs1", "theirs2"} {
		acquire(t, c.NewLock(name))
	}
	rights(t, s, "~mine", "~*{mine}*")
	for _, args := range [][]string{{"ls"}, {"watch", "--for", "100ms"}} {
		out := ended(t, partial, oncall(s), args...)
		if !strings.Contains(out, "2 names (") || !strings.Contains(out, "): theirs1, theirs2") || !strings.Contains(out, "mine  ") {
			t.Errorf("%q: %s", args, out)
		}
	}
	if out := ended(t, 0, oncall(s), "ls", "--match", "mine"); !strings.Contains(out, "mine  ") {
		t.Error(out)
	}
}

// One slot of a cluster is served by nobody, or is moving to a server that is gone. All locks of other slots are shown.
func TestASlotThatIsDownHidesNoOther(t *testing.T) {
	t.Parallel()
	c := topologytest.StartFronted(t, func(int) redistest.Front {
		return redistest.Front{Args: []string{"--cluster-require-full-coverage", "no"}}
	}, 1, 1)
	url := c.ClusterURL()
	client := open(t, url)
	const gone = "{slot}gone" // with its queue it has two keys, of which one moves
	names := []string{gone}
	for i := range 20 {
		names = append(names, fmt.Sprint("lock", i))
	}
	for _, name := range names {
		acquire(t, client.NewLock(name), rlock.Lease(10*patience))
	}
	if _, err := admin(t, url, c.Servers).Do("RPUSH", codec.FairQueue(gone), client.NewOwner().String()); err != nil {
		t.Fatal(err)
	}
	slot := codec.Slot(gone)
	from, to := 0, 1
	if c.Has(1, slot) {
		from, to = 1, 0
	}
	c.Begin(slot, from, to)
	if n := c.MoveKeys(slot, from, to, 1); n != 1 {
		t.Fatalf("%d keys moved", n)
	}
	c.Servers[to].Kill() // the server that the slot's keys are at by now
	shows := func() {
		t.Helper()
		out := ended(t, partial, url, "ls")
		for _, name := range names[1:] {
			if c.Has(from, codec.Slot(name)) && !strings.Contains(out, name+"  ") {
				t.Errorf("%s is not shown: %s", name, out)
			}
		}
		if !strings.Contains(out, gone) {
			t.Error(out)
		}
	}
	shows()
	if _, err := c.Conn(from).Do("CLUSTER", "DELSLOTS", slot); err != nil {
		t.Fatal(err)
	}
	shows()
}
