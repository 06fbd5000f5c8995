package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/rlock-go/redisson/internal/redistest"
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

// nohup, for example, starts the tool with an ignored signal.
func TestIgnoredSignalIsIgnoredByTheChildToo(t *testing.T) {
	t.Parallel()
	url := single(t)
	c := prepare(t, url, "run", "lock", "--", "sh", "-c", `trap "exit 9" TERM; echo ready; while :; do sleep 0.1; done`)
	c.Path, c.Args = "/bin/sh", append([]string{"sh", "-c", `trap "" HUP; exec "$0" "$@"`}, c.Args...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	c.says("ready")
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.status(); got != 9 {
		t.Errorf("status %d, %s", got, &c.out)
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

// The child has the terminal, wherever its output goes: it reads, and gets Ctrl-C itself. No shell
// could continue a stopped tool here, so Ctrl-Z stops the child alone. Its lock is renewed, and
// SIGCONT or Ctrl-C continues it.
func TestTerminal(t *testing.T) {
	t.Parallel()
	for _, output := range []string{"terminal", "file", "pipe"} {
		t.Run(output, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t)
			c := prepare(t, s.URL(), "run", "--watchdog", "3s", "lock", "--", "bash", "-c",
				`test -t 0 && echo ready >/dev/tty; read line; echo got $line >/dev/tty; trap "echo caught >/dev/tty; exit 7" INT; while :; do sleep 0.1; done`)
			file, err := os.Create(filepath.Join(t.TempDir(), "output"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			var piped said
			c.output = map[string]io.Writer{"terminal": nil, "file": file, "pipe": &piped}[output]
			f, read := c.onTerminal(pty.Winsize{Rows: 24, Cols: 80})
			c.says("ready")
			fmt.Fprintln(f, "a word")
			c.says("got a word")
			fmt.Fprint(f, "\x1a")
			c.says("the command is stopped")
			l := open(t, s.URL()).NewLock("lock")
			before := ttl(t, l)
			becomes(t, "the lock is renewed", func() bool { now := ttl(t, l); rose := now > before; before = now; return rose }, nothing)
			if err := c.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			becomes(t, "the child has the terminal again", func() bool { return c.stat(5) != c.stat(2) }, c.out.String)
			fmt.Fprint(f, "\x1a")
			becomes(t, "the tool has the terminal again", func() bool { return c.stat(5) == c.stat(2) }, c.out.String)
			fmt.Fprint(f, "\x03")
			got := c.status()
			<-read
			if got != 7 || !strings.Contains(c.out.String(), "caught") {
				t.Errorf("status %d, %q", got, &c.out)
			}
		})
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

// If the tool runs in the background, the shell keeps the terminal, also when the command ends.
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

// The server has answered neither the connection nor the acquire.
func TestSignalEndsARunThatHasNoAnswer(t *testing.T) {
	t.Parallel()
	const timeout = "--timeout=20s"
	terminated := func(t *testing.T, c *tool) {
		t.Helper()
		began := time.Now()
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if got, took := c.status(), time.Since(began); got != 128+15 || took > 10*time.Second {
			t.Errorf("status %d after %v: %s", got, took, &c.err)
		} else {
			t.Logf("ended after %v", took)
		}
	}
	t.Run("to the connection", func(t *testing.T) {
		t.Parallel()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		c := begin(t, "redis://"+l.Addr().String(), "run", timeout, "lock", "--", "true")
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		terminated(t, c)
	})
	t.Run("to the acquire", func(t *testing.T) {
		t.Parallel()
		s := redistest.Start(t)
		conn := s.Dial(t)
		if _, err := conn.Do("CLIENT", "PAUSE", 100_000, "WRITE"); err != nil {
			t.Fatal(err)
		}
		c := begin(t, s.URL(), "run", timeout, "lock", "--", "true")
		s.AwaitBlocked(t)
		terminated(t, c)
	})
}

// In an interactive shell a command that reads without having the terminal is stopped, and the tool
// says so. A kill still ends both tools, which release their locks.
func TestBackgroundJobThatReads(t *testing.T) {
	t.Parallel()
	url := single(t)
	c := prepare(t, url, "")
	c.Path, c.Args = "/bin/bash", []string{"bash", "--norc", "--noediting", "-i"}
	c.Env = append(c.Env, "PS1=", "PS2=", "TOOL="+os.Args[0])
	f, read := c.onTerminal(pty.Winsize{Rows: 24, Cols: 80})
	fmt.Fprintln(f, `"$TOOL" run --no-terminal lock -- bash -c 'read line; echo g""ot $line'`)
	c.says("the command is stopped")
	becomes(t, "the shell has the terminal", func() bool { return c.stat(5) == c.stat(2) }, c.out.String)
	fmt.Fprintln(f, `"$TOOL" run other -- bash -c 'read line; echo g""ot $line' &`)
	becomes(t, "the other is stopped too", func() bool { return strings.Count(c.out.String(), "the command is stopped") == 2 }, c.out.String)
	becomes(t, "the shell knows of both", func() bool { // else it would continue only one of them
		fmt.Fprintln(f, "jobs -s")
		return strings.Contains(c.out.String(), "[1]-  Stopped") && strings.Contains(c.out.String(), "[2]+  Stopped")
	}, c.out.String)
	fmt.Fprintln(f, "kill %1 %2")
	client := open(t, url)
	for _, name := range []string{"lock", "other"} {
		becomes(t, "it ends and releases "+name, func() bool { return ttl(t, client.NewLock(name)) == 0 }, c.out.String)
	}
	fmt.Fprintln(f, "exit 3")
	fmt.Fprintln(f, "exit 3") // the shell may refuse the first if it still takes the jobs for stopped
	if got := c.status(); got != 3 {
		t.Errorf("the shell's status is %d: %s", got, c.out.String())
	}
	<-read
}

// A signal may come after the child's stop and before the tool has seen the stop.
func TestChildThatHasJustStoppedIsEnded(t *testing.T) {
	t.Parallel()
	r := &run{child: exec.Command("/bin/sh", "-c", "kill -STOP $$; sleep 1000")}
	r.child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := r.child.Start(); err != nil {
		t.Fatal(err)
	}
	r.id = r.child.Process.Pid
	c := &tool{t: t, Cmd: r.child}
	becomes(t, "it is stopped", func() bool { return c.stat(0) == "T" }, nothing)
	r.pass(syscall.SIGTERM)
	becomes(t, "it has ended", func() bool { return c.stat(0) == "Z" }, nothing)
	_ = r.child.Wait()
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
