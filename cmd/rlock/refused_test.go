package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// times matches what differs between two runs: times of day, durations and the ages of connections.
var times = regexp.MustCompile(`\d\d:\d\d:\d\d\.\d+|-?(\d+(\.\d+)?(h|ms|m|µs|s))+|\d+ s\b|TTL +|\d+ of \d+ connections`)

// tries are runs of every command of the tool that asks a server. The one that takes longest begins. How a lock of another kind meets
// a refusal is shown in integration/behaviour/virtual.
var tries = []string{"doctor", "ls", "watch --for 100ms", "show plain", "show -v fair", "show permits", "show latch",
	"held plain", "held permits", "doctor --read-only", "unlock --force --yes plain", "unlock --force --yes fair", "unlock --force --yes read",
	"permits permits", "permits permits set 7 --yes", "permits permits add 2 --yes", "permits semaphore add 2 --yes",
	"permits permits release ID --yes", "run free -- echo ran", "run --at-least 1h free -- echo ran", "run --wait 1s plain -- echo ran",
	"run --kind read free -- echo ran", "run --kind permit permits -- echo ran"}

// elsewhere are runs that also ask Sentinels or a cluster what there is.
var elsewhere = []string{"ls", "watch --for 100ms", "show plain", "held plain", "doctor", "unlock --force --yes plain", "permits permits set 7 --yes",
	"run free -- echo ran", "run --wait 0 plain -- echo ran"}

// longest is how many servers share the commands of the run that takes longest.
const longest = 4

// refusing is what an account may ask, with one command fewer at a time.
type refusing struct {
	url     string
	servers []*redistest.Server
	asked   []*redistest.Server // those where the command is refused
	flags   []string
	tool    string         // the tool's executable file
	sends   *regexp.Regexp // the commands that are tried
	also    []string       // and more: a Sentinel counts none
}

// An account lacks one command at a time, each that a run of the tool was seen to send. The run ends as with all rights, or it
// names the command and has another status. testdata/refused.txt has each pair: one that is new there fails. With -write it is
// written anew.
func TestARefusedCommandIsNamed(t *testing.T) {
	// The tool as users build it starts in a quarter of the processor time that the test binary takes with -race, a thousand times.
	tool := filepath.Join(t.TempDir(), "rlock")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var mu sync.Mutex // guards rows
	var rows []string
	try := func(t *testing.T, where, args string, alike ...refusing) {
		for i := range alike {
			alike[i].tool = tool
		}
		found := where + args + "\n" + each(t, args, alike)
		mu.Lock()
		defer mu.Unlock()
		rows = append(rows, found)
	}
	t.Run("", func(t *testing.T) {
		for _, args := range tries {
			t.Run(args, func(t *testing.T) {
				t.Parallel()
				var alike []refusing
				for len(alike) == 0 || args == tries[0] && len(alike) < longest {
					s := []*redistest.Server{redistest.Start(t)}
					alike = append(alike, refusing{url: s[0].URL(), servers: s, asked: s, sends: regexp.MustCompile("")})
				}
				try(t, "", args, alike...)
			})
		}
		t.Run("cluster", func(t *testing.T) {
			t.Parallel()
			c := topologytest.Start(t, 1, 1)
			for _, args := range elsewhere {
				try(t, "cluster: ", args, refusing{url: c.ClusterURL(), servers: c.Servers, asked: c.Servers, sends: regexp.MustCompile(`^(cluster\||readonly|asking|s\w*subscribe|spublish)`)})
			}
		})
		t.Run("Sentinels", func(t *testing.T) {
			t.Parallel()
			set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
			password := filepath.Join(t.TempDir(), "password")
			if err := os.WriteFile(password, []byte("secret"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range elsewhere {
				try(t, "Sentinels: ", args, refusing{url: set.URL(), servers: set.Nodes, asked: set.Sentinels, sends: regexp.MustCompile("^$"),
					also: strings.Fields("sentinel|get-master-addr-by-name sentinel|master sentinel|sentinels sentinel|replicas subscribe client|setname"), flags: []string{"--sentinel-user", "oncall", "--sentinel-password-file", password}})
			}
		})
	})
	if t.Failed() {
		return
	}
	slices.Sort(rows)
	compare(t, "testdata/refused.txt", strings.Join(rows, ""))
}

// each tries a run of the tool without each command that it sends, on several servers at a time, and returns how it ends.
func each(t *testing.T, try string, alike []refusing) string {
	for _, r := range alike {
		for _, channel := range []string{codec.Channel("plain"), codec.PermitChannel("semaphore"), codec.CountDownChannel("latch")} {
			if _, err := r.servers[0].Dial(t).Do("SUBSCRIBE", channel); err != nil { // somebody waits
				t.Fatal(err)
			}
		}
	}
	want := alike[0].without(t, try, "")
	commands := alike[0].sent(t, try)
	if len(commands) == 0 {
		t.Errorf("%s sent none of these commands", try)
	}
	var mu sync.Mutex           // guards by
	by := map[string][]string{} // commands, by the end of the run without them
	t.Run("without", func(t *testing.T) {
		for i, r := range alike {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for k := i; k < len(commands); k += len(alike) {
					got := r.without(t, try, commands[k])
					if !got.names(commands[k], want) {
						t.Errorf("%s without %s: status %d, %s\ninstead of %d, %s", try, commands[k], got.status, got.text, want.status, want.text)
					}
					mu.Lock()
					ends := got.instead(want)
					by[ends] = append(by[ends], commands[k])
					mu.Unlock()
				}
			})
		}
	})
	text := ""
	for _, ends := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[ends])
		text += "\t" + ends + ": " + strings.Join(by[ends], " ") + "\n"
	}
	return text
}

// sent returns the commands of the last run that are tried.
func (r refusing) sent(t *testing.T, try string) []string {
	commands := slices.Clone(r.also)
	for _, s := range r.asked {
		stats, err := redis.String(s.Dial(t).Do("INFO", "commandstats"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range commandStat.FindAllStringSubmatch(stats, -1) {
			if r.sends.MatchString(m[1]) {
				commands = append(commands, m[1])
			}
		}
	}
	// The account's name, what the test sends, and what only a slow run sends.
	never := []string{"auth", "config|resetstat", "keys", "sunsubscribe"}
	if strings.HasPrefix(try, "run ") {
		never = append(never, "client|tracking", "client|caching", "unsubscribe")
	}
	slices.Sort(commands)
	return slices.DeleteFunc(slices.Compact(commands), func(c string) bool { return slices.Contains(never, c) })
}

// ending is how a run of the tool ended.
type ending struct {
	status int
	text   string
	keys   map[string]bool // what is on the servers afterwards
}

// instead says what differs from the end with all rights.
func (e ending) instead(want ending) string {
	ends := fmt.Sprint("status ", e.status)
	if e.status == want.status && e.text == want.text {
		ends = "the same"
	}
	for _, key := range slices.Sorted(maps.Keys(e.keys)) {
		if !want.keys[key] {
			ends += ", leaves " + key
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want.keys)) {
		if !e.keys[key] {
			ends += ", without " + key
		}
	}
	return ends
}

// names reports whether the run named the command that it lacked, if it ended in another way than with all rights.
func (e ending) names(command string, want ending) bool {
	said := strings.ToLower(strings.ReplaceAll(e.text, "|", " "))
	return e.text == want.text || strings.Contains(said, strings.ReplaceAll(command, "|", " ")) ||
		strings.Contains(said, "a command of the script, which rlock doctor names") ||
		e.status == notAcquired && want.status == notAcquired // who has it is a help only
}

// without runs the tool with all rights but one.
func (r refusing) without(t *testing.T, try, command string) ending {
	id := everyRefused(t, r.url, r.servers)
	for _, s := range append(slices.Clone(r.servers), r.asked...) {
		rights(t, s)
		if _, err := s.Dial(t).Do("CONFIG", "RESETSTAT"); err != nil && slices.Contains(r.servers, s) {
			t.Fatal(err)
		}
	}
	if command != "" {
		for _, s := range r.asked {
			rights(t, s, "-"+command)
		}
	}
	c := prepare(t, oncall(r.url), append(slices.Clone(r.flags), strings.Fields(strings.ReplaceAll(try, "ID", id))...)...)
	c.Path = r.tool
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	e := ending{status: c.status(), keys: map[string]bool{}}
	e.text = strings.Join(strings.Fields(differing.ReplaceAllString(c.out.String()+c.err.String(), "")), " ")
	for _, s := range r.servers {
		keys, err := redis.Strings(s.Dial(t).Do("KEYS", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if key = differing.ReplaceAllString(key, "ID"); !strings.HasPrefix(key, "redisson_unlock_latch:") && !strings.HasPrefix(key, "rlock-doctor:") { // they are there for a moment
				e.keys[key] = true
			}
		}
	}
	return e
}

// commandStat matches a command that a server has run.
var commandStat = regexp.MustCompile(`(?m)^cmdstat_(\S+?):`)

// differing matches what differs between two runs: times and ids.
var differing = regexp.MustCompile(times.String() + `|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(:-?\d+)?|[0-9a-f]{32}|127\.0\.0\.1:\d+|\d{6,}`)

// everyRefused puts a lock of each kind into empty servers, and returns the id of a permit.
func everyRefused(t *testing.T, url string, servers []*redistest.Server) (id string) {
	t.Helper()
	must := func(_ bool, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range servers {
		conn := s.Dial(t)
		if _, err := conn.Do("FLUSHALL"); err != nil && !strings.HasPrefix(err.Error(), "READONLY") {
			t.Fatal(err)
		}
	}
	c := open(t, url)
	for _, l := range []*rlock.Lock{c.NewLock("plain"), c.NewFairLock("fair"), c.NewFencedLock("fenced"), c.NewReadWriteLock("read").ReadLock()} {
		acquire(t, l, rlock.Lease(time.Hour))
	}
	must(true, acquire(t, c.NewLock("kept"), rlock.AtLeast(time.Hour)).Unlock(t.Context()))
	must(c.NewPermitSemaphore("permits").TrySetPermits(t.Context(), 3))
	taken, err := c.NewPermitSemaphore("permits").TryAcquire(t.Context(), 1, rlock.Lease(time.Hour))
	must(true, err)
	must(c.NewSemaphore("semaphore").TrySetPermits(t.Context(), 0))
	must(c.NewCountDownLatch("latch").TrySetCount(t.Context(), 2))
	if len(servers) == 1 {
		conn := servers[0].Dial(t)
		_, err = conn.Do("RPUSH", codec.FairQueue("fair"), c.NewOwner().String())
		must(true, err)
		_, err = conn.Do("ZADD", codec.FairTimes("fair"), time.Now().Add(time.Hour).UnixMilli(), c.NewOwner().String())
		must(true, err)
		_, err = conn.Do("SCRIPT", "FLUSH")
		must(true, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		conn := s.Dial(t)
		redistest.Becomes(t, "the server has seen the end of the client's connections", func() bool {
			all, err := redis.String(conn.Do("CLIENT", "LIST"))
			return err == nil && !strings.Contains(all, " name=rlock ")
		})
	}
	return taken.IDs()[0]
}

// oncall returns the URL of an account that rights can change.
func oncall(url string) string {
	return strings.Replace(url, "://", "://oncall:secret@", 1)
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
		out := ended(t, partial, oncall(s.URL()), args...)
		if !strings.Contains(out, "2 names (") || !strings.Contains(out, "): theirs1, theirs2") || !strings.Contains(out, "mine  ") {
			t.Errorf("%q: %s", args, out)
		}
	}
	if out := ended(t, 0, oncall(s.URL()), "ls", "--match", "mine"); !strings.Contains(out, "mine  ") {
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
