package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

func TestStatusesOfRun(t *testing.T) {
	t.Parallel()
	url := single(t)
	acquire(t, open(t, url).NewLock("taken"))
	for _, c := range []struct {
		status int
		args   []string
	}{
		{0, []string{"free", "--", "true"}},
		{3, []string{"free", "--", "sh", "-c", "exit 3"}},
		{128 + 15, []string{"free", "--", "sh", "-c", "kill $$"}},
		{127, []string{"free", "--", "no-such-command"}},
		{126, []string{"free", "--", "./main_test.go"}},
		{notAcquired, []string{"--wait", "0", "taken", "--", "true"}},
		{notAcquired, []string{"--wait", "200ms", "--kind", "fenced", "taken", "--", "true"}},
		{unreachable, []string{"--url", "redis://127.0.0.1:1", "--timeout", "300ms", "free", "--", "true"}},
		{usage, []string{"free", "true"}},
		{usage, []string{"--no-flag", "free", "--", "true"}},
		{usage, []string{"--kind", "none", "free", "--", "true"}},
		{usage, []string{"--url", "host:1", "free", "--", "true"}},
		{usage, []string{"--lease", "1ns", "free", "--", "true"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			ended(t, c.status, url, append([]string{"run"}, c.args...)...)
		})
	}
}

func TestEnvironmentOfTheChild(t *testing.T) {
	t.Parallel()
	url := single(t)
	if _, err := open(t, url).NewPermitSemaphore("permit").TrySetPermits(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for _, kind := range kindNames {
		out := ended(t, 0, url, "run", "--kind", kind, kind, "--", "sh", "-c", "echo $RLOCK_NAME/$RLOCK_OWNER/$RLOCK_VALID_UNTIL/$RLOCK_TOKEN/$RLOCK_TEST_TOOL")
		words := strings.Split(strings.TrimSpace(out), "/")
		until, err := time.Parse(time.RFC3339Nano, words[2])
		if words[0] != kind || len(words[1]) < 32 || err != nil || time.Until(until) > 30*time.Second ||
			(words[3] == "1") != (kind == "fenced") || words[4] != "" {
			t.Errorf("%s: %q, %v", kind, out, err)
		}
	}
	if out := ended(t, 0, url, "ls"); strings.Count(out, "\n") != 1 {
		t.Errorf("left locked: %s", out)
	}
}

// After a loss a child that ignores SIGTERM ends, and so does its own child that ignores it too.
func TestLostLockEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	n := 3
	if *full {
		n = 20
	}
	for i := range n {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			name, how := fmt.Sprint("lock", i), []string{"term", "kill"}[i%2]
			c := begin(t, s.URL(), "run", "--watchdog", "3s", "--grace", "500ms", "--on-lost", how, name, "--",
				"sh", "-c", `trap "" TERM; sh -c 'trap "" TERM; while :; do sleep 1; done' & echo pids $$ $!; while :; do sleep 1; done`)
			c.says("pids")
			becomes(t, "both pids", func() bool { return strings.HasSuffix(c.out.String(), "\n") }, nothing)
			pids := strings.Fields(c.out.String())[1:]
			if _, err := s.Dial(t).Do("DEL", name); err != nil {
				t.Fatal(err)
			}
			c.says("is lost")
			began := time.Now()
			if got := c.status(); got != lost {
				t.Errorf("status %d: %s", got, &c.err)
			}
			took := time.Since(began)
			t.Logf("%s: ended %v after the loss was said", how, took)
			if took > 500*time.Millisecond+5*time.Second {
				t.Errorf("ended only after %v", took)
			}
			for _, pid := range pids {
				becomes(t, "process "+pid+" ends", func() bool { return gone(pid) }, nothing)
			}
		})
	}
}

func TestWarnedChildRunsOn(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := prepare(t, s.URL(), "run", "--watchdog", "3s", "--on-lost", "warn", "lock", "--", "sh", "-c", "echo ready; read line; echo read $line")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	c.says("ready")
	if _, err := s.Dial(t).Do("DEL", "lock"); err != nil {
		t.Fatal(err)
	}
	c.says("is lost")
	fmt.Fprintln(in, "on")
	if got := c.status(); got != lost || !strings.Contains(c.out.String(), "read on") {
		t.Errorf("status %d, %s", got, &c.out)
	}
}

func TestChildDoesNotOutliveTheTool(t *testing.T) {
	t.Parallel()
	url := single(t)
	c := begin(t, url, "run", "--watchdog", "3s", "lock", "--", "sh", "-c", `trap "" TERM HUP; echo pid $$; while :; do sleep 1; done`)
	becomes(t, "the pid", func() bool { return strings.HasSuffix(c.out.String(), "\n") }, nothing)
	pid := strings.Fields(c.out.String())[1]
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	becomes(t, "the child ends", func() bool { return gone(pid) }, nothing)
	_ = c.Wait() // it was killed
	l := open(t, url).NewLock("lock")
	becomes(t, "the lease ends", func() bool { locked, err := l.IsLocked(t.Context()); return err == nil && !locked }, nothing)
}

func TestPipes(t *testing.T) {
	t.Parallel()
	c := prepare(t, single(t), "run", "lock", "--", "cat")
	c.Stdin = strings.NewReader(strings.Repeat("a line\n", 10000))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if got := c.status(); got != 0 || strings.Count(c.out.String(), "a line\n") != 10000 {
		t.Errorf("status %d, %d bytes", got, len(c.out.String()))
	}
}

// ttl returns the TTL of the lock's key, 0 without one.
func ttl(t *testing.T, l *rlock.Lock) time.Duration {
	t.Helper()
	d, err := l.RemainTTL(t.Context())
	if err != nil && !errors.Is(err, rlock.ErrNotLocked) {
		t.Fatal(err)
	}
	return d
}

func TestFixedLeaseIsLost(t *testing.T) {
	t.Parallel()
	c := begin(t, single(t), "run", "--lease", "2s", "--grace", "200ms", "lock", "--", "sleep", "60")
	if got := c.status(); got != lost {
		t.Errorf("status %d: %s", got, &c.err)
	}
}

// When the tool is killed, no process goes on under a lock that another client may hold by now.
func TestKilledToolTakesItsGrandchildren(t *testing.T) {
	t.Parallel()
	url := single(t)
	c := begin(t, url, "run", "--watchdog", "3s", "lock", "--", "sh", "-c", `trap "echo terminated" TERM; sh -c 'trap "" TERM HUP INT; echo $$; while :; do sleep 1; done' & echo $$; while :; do wait; done`)
	becomes(t, "both pids", func() bool { return strings.Count(c.out.String(), "\n") == 2 }, nothing)
	pids := strings.Fields(c.out.String())
	if err := c.Process.Signal(syscall.SIGTERM); err != nil { // goes to the whole group, but its guard stays
		t.Fatal(err)
	}
	c.says("terminated")
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		becomes(t, "process "+pid+" ends", func() bool { return gone(pid) }, nothing)
	}
	_ = c.Wait() // it was killed
}

func TestBackgroundChildOutlivesTheCommand(t *testing.T) {
	t.Parallel()
	url := single(t)
	out := ended(t, 0, url, "run", "lock", "--", "sh", "-c", `sleep 600 >/dev/null 2>&1 & echo $!`)
	pid, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	if gone(strconv.Itoa(pid)) {
		t.Error("it was ended")
	}
	ended(t, 0, url, "run", "--wait", "0", "lock", "--", "true")
}

func TestQuietRunSaysNothingOfATakenLock(t *testing.T) {
	t.Parallel()
	url := single(t)
	acquire(t, open(t, url).NewLock("taken"))
	if out := ended(t, notAcquired, url, "run", "-q", "--wait", "0", "taken", "--", "echo", "ran"); out != "" {
		t.Errorf("it says %q", out)
	}
	if out := ended(t, unreachable, "redis://127.0.0.1:1", "run", "-q", "--timeout", "300ms", "taken", "--", "true"); out == "" {
		t.Error("it does not say that the server can't be reached")
	}
}

func TestNameThatBeginsWithADash(t *testing.T) {
	t.Parallel()
	url := single(t)
	h := acquire(t, open(t, url).NewLock("-q"))
	ended(t, notAcquired, url, "run", "--wait", "0", "--", "-q", "--", "true")
	if out := ended(t, 0, url, "run", "--", "-n", "--", "sh", "-c", "printf %s $RLOCK_NAME"); out != "-n" {
		t.Errorf("%q", out)
	}
	if out := ended(t, 0, url, "show", "--", "-q"); !strings.Contains(out, h.Owner().String()) {
		t.Error(out)
	}
	ended(t, usage, url, "run", "--", "-q", "true")
}

// Two machines start a short job at the same tick. One runs it, and the other finds the lock taken.
// The lock is free again when the time is over.
func TestAtLeastRunsAJobOnce(t *testing.T) {
	t.Parallel()
	url := single(t)
	const least = 3 * time.Second
	args := []string{"run", "-q", "--wait", "0", "--at-least", least.String(), "nightly", "--", "echo", "ran"}
	began := time.Now()
	a := begin(t, url, args...)
	if status := a.status(); status != 0 || a.out.String() != "ran\n" {
		t.Fatalf("status %d: %s%s", status, &a.out, &a.err)
	}
	b := begin(t, url, args...)
	if status := b.status(); (status != notAcquired || b.out.String()+b.err.String() != "") && time.Since(began) < least {
		t.Errorf("the second: status %d: %s%s", status, &b.out, &b.err)
	}
	ended(t, 0, url, "run", "--wait", "30s", "nightly", "--", "true")
	if took := time.Since(began); took < least {
		t.Errorf("the next got it after %v", took)
	}
	for _, more := range [][]string{{"--kind", "permit"}, {"--kind", "read"}, {"--lease", "1s"}} {
		ended(t, usage, url, append(append([]string{"run", "--at-least", "2s"}, more...), "other", "--", "true")...)
	}
}

// Here both begin at the same time.
func TestAtLeastOfTwoAtOneTick(t *testing.T) {
	t.Parallel()
	url := single(t)
	var both []*tool
	for range 2 {
		both = append(both, begin(t, url, "run", "-q", "--wait", "0", "--at-least", "1m", "nightly", "--", "echo", "ran"))
	}
	statuses, out := both[0].status()+both[1].status(), both[0].out.String()+both[1].out.String()
	if statuses != notAcquired || out != "ran\n" {
		t.Errorf("statuses %d, %q, %s%s", statuses, out, &both[0].err, &both[1].err)
	}
}
