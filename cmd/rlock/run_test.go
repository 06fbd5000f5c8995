package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/rlock-go/redisson/internal/redistest"
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

// A child that ignores SIGTERM, with a child of its own that does, is gone with it.
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

func TestSignalsArePassedOn(t *testing.T) {
	t.Parallel()
	url := single(t)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1} {
		c := begin(t, url, "run", "lock", "--", "sh", "-c", fmt.Sprintf(`trap "echo caught; exit 9" %d; echo ready; while :; do sleep 0.1; done`, s))
		c.says("ready")
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if got := c.status(); got != 9 || !strings.Contains(c.out.String(), "caught") {
			t.Errorf("%v: status %d, %s", s, got, &c.out)
		}
	}
	if locked, err := open(t, url).NewLock("lock").IsLocked(t.Context()); err != nil || locked {
		t.Errorf("locked %v, %v", locked, err)
	}
}

func TestSignalEndsTheWait(t *testing.T) {
	t.Parallel()
	url := single(t)
	l := open(t, url).NewLock("lock")
	acquire(t, l)
	c := begin(t, url, "run", "--wait", "-1s", "lock", "--", "true")
	becomes(t, "it waits", func() bool { i, err := l.Info(t.Context()); return err == nil && i.Waiters == 1 }, nothing)
	for _, s := range []syscall.Signal{syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGTERM} {
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if s == syscall.SIGTSTP {
			becomes(t, "it is stopped", func() bool { return c.stat(0) == "T" }, nothing)
		}
	}
	if got := c.status(); got != 128+15 {
		t.Errorf("status %d", got)
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

// The child has the terminal: it reads, Ctrl-Z stops it and the tool, and Ctrl-C is its own.
func TestTerminal(t *testing.T) {
	t.Parallel()
	url := single(t)
	c := prepare(t, url, "run", "lock", "--", "bash", "-c", `test -t 0 -a -t 1 && echo ready; read line; echo got $line; trap "echo caught; exit 7" INT; while :; do sleep 0.1; done`)
	f, read := c.onTerminal(pty.Winsize{Rows: 24, Cols: 80})
	c.says("ready")
	fmt.Fprintln(f, "a word")
	c.says("got a word")
	fmt.Fprint(f, "\x1a")
	becomes(t, "the tool is stopped", func() bool { return c.stat(0) == "T" }, c.out.String)
	if err := c.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	becomes(t, "the child has the terminal again", func() bool { return c.stat(5) != c.stat(2) }, c.out.String)
	fmt.Fprint(f, "\x03")
	got := c.status()
	<-read
	if got != 7 || !strings.Contains(c.out.String(), "caught") {
		t.Errorf("status %d, %q", got, &c.out)
	}
}

// In the background, the shell has the terminal, also when the command ends there.
func TestShellKeepsTheTerminal(t *testing.T) {
	t.Parallel()
	url := single(t)
	goOn := filepath.Join(t.TempDir(), "go on")
	c := prepare(t, url, "")
	c.Path, c.Args = "/bin/bash", []string{"bash", "--norc", "--noediting", "-i"}
	c.Env = append(c.Env, "PS1=", "PS2=", "TOOL="+os.Args[0], "FILE="+goOn)
	f, read := c.onTerminal(pty.Winsize{Rows: 24, Cols: 80})
	has := func() bool { return c.stat(5) == c.stat(2) }
	fmt.Fprintln(f, `"$TOOL" run lock -- bash -c 'trap "echo a""gain" CONT; echo rea""dy; until test -e "$FILE"; do sleep 0.05; done'`)
	c.says("ready")
	becomes(t, "the command has the terminal", func() bool { return !has() }, c.out.String)
	fmt.Fprint(f, "\x1a")
	becomes(t, "the shell has it", has, c.out.String)
	fmt.Fprintln(f, "bg")
	c.says("again")
	if !has() {
		t.Error("the command has the terminal in the background")
	}
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f, "wait %1; echo status $?")
	c.says("status 0")
	if !has() {
		t.Error("the shell does not have the terminal")
	}
	fmt.Fprintln(f, "exit")
	if got := c.status(); got != 0 {
		t.Errorf("status %d: %s", got, &c.out)
	}
	<-read
}

func TestFixedLeaseIsLost(t *testing.T) {
	t.Parallel()
	c := begin(t, single(t), "run", "--lease", "2s", "--grace", "200ms", "lock", "--", "sleep", "60")
	if got := c.status(); got != lost {
		t.Errorf("status %d: %s", got, &c.err)
	}
}
