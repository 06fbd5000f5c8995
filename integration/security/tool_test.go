package security

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// program is the built tool's path.
var program string

// runTool runs the tool, and returns what it shows.
func runTool(url string, args ...string) (shown string, err error) {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "REDIS_URL="+url)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%q: %w: %s", args, err, out)
	}
	return string(out), err
}

// looks shows every lock at url by ls, show and watch, and returns what they show, without times and without the current
// number of a client's connections.
func looks(t *testing.T, url string) (shown string, err error) {
	t.Helper()
	for _, args := range [][]string{
		{"ls"}, {"show", "orders:plain"}, {"show", "orders:fair"}, {"show", "orders:fenced"}, {"show", "orders:permits"}, {"show", "orders:number"},
		{"watch", "--for", "300ms", "--every", "100ms"},
	} {
		out, failed := runTool(url, args...)
		err = errors.Join(err, failed)
		if args[0] == "watch" { // its first search may take more than one look, and each look tells what was found by then
			out = strings.Join(slices.Sorted(strings.Lines(changing.ReplaceAllString(out, "T"))), "")
		}
		shown += out
	}
	lines := strings.Split(changing.ReplaceAllString(shown, "T"), "\n")
	return strings.Join(slices.CompactFunc(lines, func(a, b string) bool {
		return strings.HasPrefix(a, "connectionT") && strings.HasPrefix(b, "connectionT")
	}), "\n"), err
}

var changing = regexp.MustCompile(`-?\b(\d+h)?(\d+m)?[0-9.]+m?s\b|subscriptions: \d|\d\d:\d\d:\d\d\.\d+|\d+ s old| {2,}`)

// hold has a lock of each sort held, and a waiter for the fair one.
func hold(t *testing.T, url string) {
	t.Helper()
	c := testbed.Open(t, url)
	lease := rlock.Lease(time.Hour)
	for _, l := range []*rlock.Lock{c.NewLock("orders:plain"), c.NewFairLock("orders:fair"), c.NewFencedLock("orders:fenced")} {
		if _, err := l.Lock(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
	}
	p := c.NewPermitSemaphore("orders:permits")
	_, err := p.TrySetPermits(t.Context(), 2)
	_, err2 := p.TryAcquire(t.Context(), 1, lease)
	_, err3 := c.NewSemaphore("orders:number").TrySetPermits(t.Context(), 5)
	testbed.Must(t, errors.Join(err, err2, err3))
	testbed.Enter(t.Context(), c.NewFairLock("orders:fair"))
	testbed.Within(testbed.Patience, func() bool {
		shown, err := runTool(url, "show", "orders:fair") // it is queued before it listens
		return err == nil && strings.Contains(shown, "queue") && !strings.Contains(shown, "not listening")
	})
}

func TestAccountOfTheTool(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	r := on(t, redisserver.Local(t))
	hold(t, r.Server.URL())
	all, err := looks(t, r.Server.URL())
	testbed.Must(t, err)
	try := func(a account) (string, []string, error) {
		r.grant(a)
		r.Do("ACL", "LOG", "RESET")
		got, err := looks(t, as(r.Server.Addr(), a, ""))
		return got, r.denied(), err
	}
	if got, denied, err := try(d.tool); err != nil || got != all || len(denied) > 0 {
		t.Errorf("%v, denied %q:\n%s\nwant\n%s", err, denied, got, all)
	}
	before := r.Number("DBSIZE")
	for _, rule := range d.tool.rules {
		if rule == "reset" || rule == "on" || strings.HasPrefix(rule, ">") || rule == "+role" || rule == "+dbsize" {
			continue // the one is for Sentinels, the other for the progress that a terminal shows
		}
		if got, denied, err := try(d.tool.without(rule)); err == nil && got == all && len(denied) == 0 {
			t.Errorf("nothing misses %s", rule)
		} else if err == nil && got == all && rule != "+client|setname" {
			t.Errorf("nobody is told that %s is missing", rule)
		}
	}
	r.grant(d.tool)
	c := redisserver.Dial(t, r.Server)
	testbed.Do(t, c, "AUTH", d.tool.name, d.tool.password)
	if _, err := c.Do("DEL", "orders:plain"); err == nil || !strings.Contains(err.Error(), "NOPERM") {
		t.Errorf("it may delete: %v", err)
	}
	if n := r.Number("DBSIZE"); n != before {
		t.Errorf("%d keys, before %d", n, before)
	}
}

// TestAccountOfTheToolWithTheLibrarys: with the library's rules, too, the tool's account may make changes, but not alone.
func TestAccountOfTheToolWithTheLibrarys(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	r := on(t, redisserver.Local(t))
	a := d.tool
	for _, rule := range d.fenced.rules {
		if !strings.HasPrefix(rule, "reset") {
			a = a.with(rule)
		}
	}
	for _, whose := range []account{a, d.tool} {
		r.grant(whose)
		r.Do("HSET", "orders:plain", "7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:1", 1) // so that there is something to free
		for _, args := range [][]string{{"run", "--wait", "0", "orders:free", "--", "true"}, {"unlock", "--force", "--yes", "orders:plain"}, {"doctor", "--prefix", "orders:"}} {
			if _, err := runTool(as(r.Server.Addr(), whose, ""), args...); (err == nil) != (len(whose.rules) == len(a.rules)) {
				t.Errorf("%q with %d rules: %v", args, len(whose.rules), err)
			}
		}
	}
}

func TestAccountOfTheToolOnSeveralServers(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	for name, start := range map[string]func(t *testing.T) (url string, servers []*redistest.Server, a account){
		"Sentinels": func(t *testing.T) (string, []*redistest.Server, account) {
			set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
			return set.URL(), set.Nodes, d.tool
		},
		"replicated": func(t *testing.T) (string, []*redistest.Server, account) {
			set := redistest.StartReplicated(t, 1)
			return set.URL(), set.Nodes, d.tool
		},
		"cluster": func(t *testing.T) (string, []*redistest.Server, account) {
			c := topologytest.StartReplicated(t, 1, 1)
			return c.ClusterURL(), c.Servers, d.tool.with("+cluster|myid", "+cluster|nodes", "+cluster|slots")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, servers, a := start(t)
			var conns []redis.Conn
			for _, s := range servers {
				conns = append(conns, s.Dial(t))
				grantAt(t, conns[len(conns)-1], a)
			}
			hold(t, url)
			all, err := looks(t, url)
			testbed.Must(t, err)
			if got, err := looks(t, by(url, a)); err != nil || got != all {
				t.Errorf("%v:\n%s\nwant\n%s", err, got, all)
			}
			if denied := deniedTo(t, a.name, conns); len(denied) > 0 {
				t.Errorf("denied: %q", denied)
			}
		})
	}
}
