package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// every has each command that uses a server, except run.
var every = [][]string{{"ls"}, {"show", "lock"}, {"watch", "--for", "1s"}, {"watch", "lock"}, {"doctor"}, {"unlock", "--force", "--yes", "lock"},
	{"held", "lock"}, {"permits", "lock", "set", "3"}}

func TestServersThatAreNotThere(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"redis://127.0.0.1:1", "redis+sentinel://127.0.0.1:1/mymaster", "redis+cluster://127.0.0.1:1", "redis+replicated://127.0.0.1:1,127.0.0.1:2"} {
		for _, args := range append(every, []string{"run", "lock", "--", "true"}) {
			if out := ended(t, unreachable, url, append([]string{"--timeout", "300ms"}, args...)...); !strings.Contains(out, "connection refused") {
				t.Errorf("%s: %q: %s", url, args, out)
			}
		}
	}
}

// A cluster's node has only some of the locks, so the tool refuses to read it as a single server.
func TestClusterByARedisURLIsRefused(t *testing.T) {
	t.Parallel()
	c := topologytest.Start(t, 1, 1)
	for _, args := range every {
		want := c.Servers[0].Addr() + " is a node of a cluster, whose URL is redis+cluster://"
		if out := ended(t, unreachable, c.Servers[0].URL(), args...); !strings.Contains(out, want) {
			t.Errorf("%q: %s", args, out)
		}
	}
}

func TestReplicaIsRefused(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	master := set.Master()
	replica := set.Nodes[0]
	if replica == master {
		replica = set.Nodes[1]
	}
	for _, args := range append(every, []string{"run", "lock", "--", "true"}) {
		want := fmt.Sprintf("%s is a replica of %s (link up); use the master", replica.Addr(), master.Addr())
		if out := ended(t, unreachable, replica.URL(), args...); !strings.Contains(out, want) {
			t.Errorf("%q: %s", args, out)
		}
	}
}

// Half of a slot's locks are at its new server, the others at the old one.
func TestHalfMovedSlot(t *testing.T) {
	t.Parallel()
	c := topologytest.Start(t, 1, 1)
	url := c.ClusterURL()
	client, other := open(t, url), open(t, url)
	names := []string{"{slot}0", "{slot}1", "{slot}2", "{slot}3"}
	holds := map[string]*rlock.Hold{}
	for _, name := range names {
		holds[name] = acquire(t, client.NewLock(name))
	}
	fair := acquire(t, client.NewFairLock("{slot}fair"))
	holds["{slot}fair"], names = fair, append(names, "{slot}fair")
	enter(t, other.NewFairLock("{slot}fair"))
	becomes(t, "a place in the queue", func() bool { s := shown(t, url, "{slot}fair"); return len(s.Queue) == 1 }, nothing)
	slot := codec.Slot("{slot}")
	from, to := 0, 1
	if c.Has(1, slot) {
		from, to = 1, 0
	}
	c.Begin(slot, from, to)
	if n := c.MoveKeys(slot, from, to, 3); n != 3 {
		t.Fatalf("%d keys moved", n)
	}
	out := ended(t, 0, url, "ls")
	for _, name := range names {
		if owner := holds[name].Owner().String(); !strings.Contains(out, owner) || shown(t, url, name).Holders[0].Owner != owner {
			t.Errorf("%s is not shown: %s", name, out)
		}
	}
	if s := shown(t, url, "{slot}fair"); len(s.Queue) != 1 {
		t.Errorf("its queue is not shown: %+v", s)
	}
	if out := ended(t, 1, url, "doctor"); strings.Count(out, "todo") != 2 { // two masters without a replica
		t.Error(out)
	}
	for _, name := range names[:4] {
		if out := ended(t, 0, url, "unlock", "--force", "--yes", name); !strings.Contains(out, "freed") {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// Nobody serves one of three shards. The tool shows the rest, and says what is missing.
func TestDeadShard(t *testing.T) {
	t.Parallel()
	c := topologytest.StartFronted(t, func(int) redistest.Front {
		return redistest.Front{Args: []string{"--cluster-require-full-coverage", "no"}}
	}, 1, 1, 1)
	url, dead := c.ClusterURL(), c.Servers[1].Addr()
	client := open(t, url)
	at := map[bool][]string{} // names, by whether their server will die
	for i := 0; len(at[true]) < 3 || len(at[false]) < 3; i++ {
		name := fmt.Sprint("lock", i)
		acquire(t, client.NewLock(name), rlock.Lease(10*patience))
		there := c.Has(1, codec.Slot(name))
		at[there] = append(at[there], name)
	}
	c.Servers[1].Kill()
	said := fmt.Sprintf("not all could be read: %s with %d of 16384 slots", dead, len(c.Slots(0)))
	out := ended(t, partial, url, "ls")
	for _, name := range at[false] {
		if !strings.Contains(out, name+"  ") {
			t.Errorf("no %s: %s", name, out)
		}
		if out := ended(t, 0, url, "show", name); !strings.Contains(out, "holder") {
			t.Errorf("%s: %s", name, out)
		}
	}
	if !strings.Contains(out, said) || strings.Contains(out, at[true][0]+"  ") {
		t.Errorf("ls does not say %q: %s", said, out)
	}
	if out := ended(t, partial, url, "ls", "-o", "json"); !strings.HasPrefix(out, "[{") || !strings.Contains(out, said) {
		t.Errorf("in JSON: %s", out)
	}
	ended(t, unreachable, url, "show", at[true][0])
	if out := ended(t, partial, url, "watch", "--for", "300ms"); !strings.Contains(out, said) || strings.Count(out, "held  ") != len(at[false]) {
		t.Errorf("watch: %s", out)
	}
	if out := ended(t, 1, url, "doctor", "--timeout", "1s"); !strings.Contains(out, "todo  master        "+dead) || !strings.Contains(out, "ok    messages") {
		t.Errorf("doctor: %s", out)
	}
	if out := ended(t, 0, url, "unlock", "--force", "--yes", at[false][0]); !strings.Contains(out, "freed") {
		t.Error(out)
	}
}

// A master that could not be read is missing in the list, whether or not it can be reached afterwards.
func TestMasterThatWasNotReadIsSaidToBeMissing(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	url := c.ClusterURL()
	for i := range 3 { // whichever is read first
		conn := c.Conn(i)
		for _, rule := range []string{"-scan", "+scan"} {
			if _, err := conn.Do("ACL", "SETUSER", "default", rule); err != nil {
				t.Fatal(err)
			}
			status := 0
			if rule == "-scan" {
				status = partial
			}
			for _, args := range [][]string{{"ls"}, {"ls", "-o", "json"}} {
				out := ended(t, status, url, args...)
				if said := fmt.Sprintf("%s with %d of 16384 slots", c.Servers[i].Addr(), len(c.Slots(i))); strings.Contains(out, said) != (status == partial) {
					t.Errorf("%s, %v: it does not say %q: %s", rule, args, said, out)
				}
			}
			if out := ended(t, status, url, "watch", "--for", "300ms"); strings.Contains(out, "no answer") != (status == partial) {
				t.Errorf("%s: watch: %s", rule, out)
			}
			if out := ended(t, 0, url, "watch", "--for", "300ms", "lock"); strings.Contains(out, "no answer") {
				t.Errorf("%s: watch of one lock: %s", rule, out)
			}
		}
	}
}

func TestExpiredPermitsAreNotHeld(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	sem := open(t, s.URL()).NewPermitSemaphore("permits")
	if _, err := sem.TrySetPermits(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	taken, err := sem.TryAcquire(t.Context(), 2, rlock.Lease(10*patience))
	if err != nil {
		t.Fatal(err)
	}
	id, err := hex.DecodeString(taken.IDs()[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Dial(t).Do("ZADD", codec.PermitTimes("permits"), time.Now().Add(-88*time.Second).UnixMilli(), id); err != nil {
		t.Fatal(err)
	}
	if st := shown(t, s.URL(), "permits"); len(st.Holders) != 1 || st.Expired != 1 || st.More != 0 || *st.Number != 1 {
		t.Errorf("%+v", st)
	}
	if out := ended(t, 0, s.URL(), "show", "permits"); !strings.Contains(out, "expired  1: the next acquire frees") || strings.Contains(out, "expires in -") {
		t.Error(out)
	}
	// More than are read at once, such as those of a process that took them together and died.
	add := []any{codec.PermitTimes("permits")}
	for i := range most + 10 {
		add = append(add, i, fmt.Sprintf("%016d", i))
	}
	if _, err := s.Dial(t).Do("ZADD", add...); err != nil {
		t.Fatal(err)
	}
	if st := shown(t, s.URL(), "permits"); len(st.Holders) != 1 || st.Expired != most+11 || st.More != 0 {
		t.Errorf("%d are held, %d expired, %d more", len(st.Holders), st.Expired, st.More)
	}
	if out := ended(t, 0, s.URL(), "held", "permits"); !strings.Contains(out, "held by "+taken.IDs()[1]) {
		t.Error(out)
	}
}

func TestLatchHasACount(t *testing.T) {
	t.Parallel()
	url := single(t)
	l := open(t, url).NewCountDownLatch("latch")
	if _, err := l.TrySetCount(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	over := make(chan error)
	go func() { over <- l.Await(t.Context()) }()
	becomes(t, "somebody waits", func() bool { s := shown(t, url, "latch"); return s.waiting() == 1 }, nothing)
	if out := ended(t, 0, url, "show", "latch"); !strings.Contains(out, "count    2") || !strings.Contains(out, "waiting  1 client\n") || strings.Contains(out, "channel") {
		t.Error(out)
	}
	if out := ended(t, 0, url, "show", "-v", "latch"); !strings.Contains(out, "1 on the plain channel") {
		t.Error(out)
	}
	if out := ended(t, 0, url, "ls"); !strings.Contains(out, "- (count 2)") {
		t.Error(out)
	}
	for range 2 {
		if err := l.CountDown(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// Names with control characters are not completed. JSON keeps the bytes of a name that is not UTF-8.
func TestStrangeNames(t *testing.T) {
	t.Parallel()
	url := single(t)
	c := open(t, url)
	strange := []string{"x\x1b[2J", "x\nrm -rf", "x\ty", "x\xff\xfe"}
	for _, name := range append(strange, "x ö") {
		acquire(t, c.NewLock(name))
	}
	if out := ended(t, 0, url, "__complete", "show", "x"); !strings.HasPrefix(out, "x ö\n:4\n") {
		t.Errorf("%q", out)
	}
	var all []state
	if err := json.Unmarshal([]byte(ended(t, 0, url, "ls", "-o", "json")), &all); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(s state) bool { return s.Bytes != nil })
	if len(all) != 5 || i < 0 || string(all[i].Bytes) != strange[3] {
		t.Fatalf("%+v", all)
	}
	if s := shown(t, url, string(all[i].Bytes)); !s.held() {
		t.Errorf("%+v", s)
	}
}

func TestWatchFindsAShortHold(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	if _, err := s.Dial(t).Do("EVAL", "for i = 1, 20000 do redis.call('set', 'key' .. i, 1) end", 0); err != nil {
		t.Fatal(err)
	}
	a, b := begin(t, s.URL(), "watch"), begin(t, s.URL(), "watch", "-o", "json")
	c := open(t, s.URL())
	acquire(t, c.NewLock("first"))
	a.says("first")
	b.says("first")
	h := acquire(t, c.NewLock("short"))
	began := time.Now()
	a.says("held         short  by " + h.Owner().String())
	b.says(`"event":"held","name":"short","holder":"` + h.Owner().String() + `"`)
	t.Logf("found after %v", time.Since(began)) // about 1.5 s on an idle machine
	if rests := watchCommand(&server{}).Flag("rescan").DefValue; rests != "1s" {
		t.Errorf("it rests for %s between searches", rests)
	}
	for _, c := range []*tool{a, b} {
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if got := c.status(); got != 130 {
			t.Errorf("status %d", got)
		}
	}
	for line := range strings.Lines(b.out.String()) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.At.IsZero() || e.What == "" {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// --for also ends a search that is still running.
func TestWatchEndsInTime(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	acquire(t, open(t, s.URL()).NewLock("lock"))
	for _, which := range [][]string{nil, {"lock"}} {
		began := time.Now()
		c := begin(t, s.URL(), append([]string{"--timeout", "5m", "watch", "--for", "1s"}, which...)...)
		c.says("held")
		s.Pause()
		if got := c.status(); got != 0 {
			t.Errorf("%q: status %d: %s", which, got, &c.err)
		}
		s.Resume()
		if took := time.Since(began); took > time.Second+patience {
			t.Errorf("%q: ended after %v", which, took)
		}
	}
}

// With few columns the TTL stays, and the owner is shortened.
func TestNarrowTerminals(t *testing.T) {
	t.Parallel()
	url := single(t)
	c := open(t, url)
	h := acquire(t, c.NewLock("invoices"))
	acquire(t, c.NewLock(strings.Repeat("long:", 30)))
	for range 3 {
		acquire(t, c.NewReadWriteLock("prices").ReadLock())
	}
	conn, err := redis.DialURL(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	runner := begin(t, url, "run", "held by a runner", "--", "sleep", "300")
	defer func() {
		_ = runner.Process.Signal(os.Interrupt)
		runner.status()
	}()
	becomes(t, "it holds", func() bool {
		s := shown(t, url, "held by a runner")
		return s.held()
	}, nothing)
	for key, field := range map[string]string{"for ever": c.NewOwner().String(), "alone": c.NewOwner().String()} {
		if _, err := conn.Do("HSET", key, field, 12345); err != nil {
			t.Fatal(err)
		}
	}
	for _, columns := range []int{70, 100, 280} {
		for _, args := range [][]string{{"ls"}, {"show", "invoices"}, {"show", "held by a runner"}, {"watch", "--for", "500ms"}, {"doctor"}} {
			tool := prepare(t, url, args...)
			_, read := tool.onTerminal(pty.Winsize{Rows: 30, Cols: uint16(columns)})
			if got := tool.status(); got != 0 {
				t.Errorf("%q: status %d", args, got)
			}
			<-read
			for line := range strings.Lines(plainly(tool.out.String())) {
				if line = strings.TrimRight(line, "\r\n"); widest(line) > columns {
					t.Errorf("%q in %d columns: %d: %s", args, columns, widest(line), line)
				}
				if args[0] == "ls" && strings.HasPrefix(line, "invoices") {
					owner := h.Owner().String()
					if columns == 70 {
						owner = short(owner)
					}
					if f := strings.Fields(line); len(f) != 6 || f[2] == "" || f[5] != owner && columns != 100 {
						t.Errorf("in %d columns: %s", columns, line)
					}
				}
			}
		}
	}
}

// plainly removes the cursor movements from a text.
func plainly(text string) string { return moves.ReplaceAllString(text, "") }

// show alone leads an operator to the process that holds a lock, and to those that wait. watch does not say that a lock that
// it found was taken just then.
func TestProcessesThatHoldAndWaitAreTold(t *testing.T) {
	t.Parallel()
	url := single(t)
	holder := begin(t, url, "run", "orders", "--", "sleep", "300")
	becomes(t, "it holds", func() bool { s := shown(t, url, "orders"); return s.held() }, nothing)
	waiter := begin(t, url, "run", "--wait", "-1s", "orders", "--", "sleep", "300")
	becomes(t, "it waits", func() bool { s := shown(t, url, "orders"); return s.waiting() == 1 }, nothing)
	out := ended(t, 0, url, "show", "orders")
	for does, c := range map[string]*tool{"holds": holder, "waits": waiter} {
		if line := regexp.MustCompile(`(?m)^` + does + ` +rlock-run:orders:\S+:` + strconv.Itoa(c.Process.Pid) + ` from `); len(line.FindAllString(out, -1)) != 1 {
			t.Errorf("%d %s:\n%s", c.Process.Pid, does, out)
		}
	}
	if out := ended(t, 0, url, "watch", "orders", "--for", "300ms"); !strings.Contains(out, ", since before") {
		t.Errorf("watch: %s", out)
	}
	if out := ended(t, 0, url, "unlock", "--force", "--yes", "orders"); !strings.Contains(out, " now\n") {
		t.Errorf("unlock: %s", out)
	}
	if got := holder.status(); got != lost {
		t.Errorf("who held it ended with %d", got)
	}
	for _, s := range []os.Signal{syscall.SIGSTOP, syscall.SIGCONT, os.Interrupt} { // it can't notice that it loses the lock, and waits for nothing
		if err := waiter.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if s == syscall.SIGSTOP {
			ended(t, 0, url, "unlock", "--force", "--yes", "orders")
			if out := ended(t, 0, url, "show", "orders"); !strings.Contains(out, "waiting  nobody\nuses     rlock-run:orders:") {
				t.Errorf("once it is lost: %s", out)
			}
		}
	}
	waiter.status()
	if out := ended(t, 0, url, "show", "orders"); !strings.Contains(out, "free") || strings.Contains(out, "rlock-run") {
		t.Errorf("afterwards: %s", out)
	}
}

// A search reads each key in several passes, and counts it once in each.
func TestProgressIsAShareOfAllKeys(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	if _, err := s.Dial(t).Do("EVAL", "for i = 1, 1000 do redis.call('set', 'key' .. i, 1) end", 0); err != nil {
		t.Fatal(err)
	}
	r, err := (&server{url: s.URL(), timeout: patience}).reader()
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	for numbers, passes := range map[bool]int{false: 3, true: 4} {
		var said []string
		l := &listing{r: r, match: "*", numbers: numbers, progress: func(text string) { said = append(said, text) }}
		if err := l.find(t.Context()); err != nil {
			t.Fatal(err)
		}
		if l.total != passes*1000 || !strings.HasPrefix(said[len(said)-1], "100% of all keys looked at, ") || !strings.HasPrefix(said[0], strconv.Itoa(50000/l.total)+"% ") {
			t.Errorf("%d keys: %q", l.total, said)
		}
	}
}
