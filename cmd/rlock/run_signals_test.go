package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

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

// The child has the terminal, also if its output goes to a file: it reads, and gets Ctrl-C itself. No shell
// could continue a stopped tool here, so Ctrl-Z stops the child alone. Its lock is renewed, and
// SIGCONT or Ctrl-C continues it.
func TestTerminal(t *testing.T) {
	t.Parallel()
	for _, output := range []string{"terminal", "file"} {
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
			c.output = map[string]io.Writer{"terminal": nil, "file": file}[output]
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

// A command that can't be run has got the terminal before that shows. The script goes on with it.
func TestTerminalComesBackFromACommandThatCanNotBeRun(t *testing.T) {
	t.Parallel()
	url := single(t)
	job := filepath.Join(t.TempDir(), "job")
	if err := os.WriteFile(job, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := prepare(t, url, "")
	c.Path, c.Args = "/bin/sh", []string{"sh", "-c", `"$TOOL" run lock -- "$JOB"; echo status $?; read line; echo got $line`}
	c.Env = append(c.Env, "TOOL="+os.Args[0], "JOB="+job)
	f, read := c.onTerminal(pty.Winsize{Rows: 24, Cols: 80})
	c.says("status 126")
	fmt.Fprintln(f, "a word")
	c.says("got a word")
	if got := c.status(); got != 0 {
		t.Errorf("status %d: %s", got, &c.out)
	}
	<-read
}

// The lock is lost, and the command ends by that, but not its own child. Signals go to that one.
func TestSignalsArePassedOnToWhatIsLeftOfTheGroup(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := begin(t, s.URL(), "run", "--watchdog", "1h", "--grace", "10m", "lock", "--",
		"sh", "-c", `sh -c 'trap "" TERM; trap "echo caught; exit" HUP; echo ready; while :; do sleep 0.1; done' & echo pid $$ .; wait`)
	c.says("ready")
	c.says(" .")
	pid := regexp.MustCompile(`pid (\d+) `).FindStringSubmatch(c.out.String())[1]
	if _, err := s.Dial(t).Do("DEL", "lock"); err != nil {
		t.Fatal(err)
	}
	c.says("is lost")
	becomes(t, "the command ends", func() bool { return gone(pid) }, nothing)
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	c.says("caught")
	if got := c.status(); got != lost {
		t.Errorf("status %d: %s", got, &c.err)
	}
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
