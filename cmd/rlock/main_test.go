package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/rlock-go/redisson/internal/testkit/deathsig"
	"github.com/rlock-go/redisson/internal/testkit/leakcheck"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

var full = flag.Bool("full", false, "lose twenty locks, and look through a million keys")

// isTool is the environment variable that makes the test binary run as the tool.
const isTool = "RLOCK_TEST_TOOL"

func TestMain(m *testing.M) {
	if os.Getenv(isTool) != "" {
		os.Unsetenv(isTool)
		adopt()
		main()
	}
	leakcheck.Main(m)
}

// patience limits waits that end at once if all is well.
const patience = 30 * time.Second

// tool is a run of the tool.
type tool struct {
	*exec.Cmd
	t        *testing.T
	out, err said
	output   io.Writer // where a tool on a terminal writes; nil: to the terminal
}

// said is what a process has written so far.
type said struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func prepare(t *testing.T, url string, args ...string) *tool {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	t.Cleanup(cancel)
	c := &tool{Cmd: exec.CommandContext(ctx, os.Args[0], args...), t: t}
	c.Env = append(os.Environ(), isTool+"=1", "REDIS_URL="+url)
	c.Stdout, c.Stderr = &c.out, &c.err
	if c.SysProcAttr = deathsig.Attr(syscall.SIGKILL); c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setsid = true // a terminal that the tests run at is not the tool's
	return c
}

// begin starts the tool.
func begin(t *testing.T, url string, args ...string) *tool {
	t.Helper()
	c := prepare(t, url, args...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// status waits for the tool's end, which must come before prepare's time limit.
func (c *tool) status() int {
	c.t.Helper()
	err := c.Wait()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		if !e.Exited() {
			c.t.Errorf("%v: %s%s", err, &c.out, &c.err)
		}
		return e.ExitCode()
	} else if err != nil {
		c.t.Fatal(err)
	}
	return 0
}

// ended runs the tool, demands that it ends with this status, and returns what it wrote.
func ended(t *testing.T, status int, url string, args ...string) string {
	t.Helper()
	c := begin(t, url, args...)
	if got := c.status(); got != status {
		t.Fatalf("rlock %q: status %d, not %d; %s%s", args, got, status, &c.out, &c.err)
	}
	return c.out.String() + c.err.String()
}

// says waits until the tool has written some text.
func (c *tool) says(text string) {
	c.t.Helper()
	becomes(c.t, "it says "+text, func() bool { return strings.Contains(c.out.String(), text) || strings.Contains(c.err.String(), text) },
		func() string { return c.out.String() + c.err.String() })
}

// onTerminal starts the tool with a terminal. A goroutine reads its output until it has ended.
func (c *tool) onTerminal(size pty.Winsize) (f *os.File, read <-chan struct{}) {
	c.t.Helper()
	c.Stdout, c.Stderr, c.SysProcAttr = c.output, nil, nil
	f, err := pty.StartWithSize(c.Cmd, &size)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { f.Close() })
	done := make(chan struct{})
	go func() {
		defer close(done)
		for b := make([]byte, 10000); ; {
			n, err := f.Read(b)
			c.out.Write(b[:n])
			if err != nil {
				return // the tool has closed the terminal
			}
		}
	}()
	return f, done
}

// stat returns a field of the process's stat file, counted from its state (0): 2 is its group, 5
// the group that has its terminal.
func (c *tool) stat(field int) string {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
	_, after, _ := strings.Cut(string(stat), ") ")
	if fields := strings.Fields(after); len(fields) > field {
		return fields[field]
	}
	return ""
}

// handedOver waits until watch reports the hand-over, perhaps as a release and a hold.
func (c *tool) handedOver(lock string, from, to *rlock.Hold) {
	c.t.Helper()
	becomes(c.t, "it tells of the hand-over", func() bool {
		text := c.out.String()
		return strings.Contains(text, fmt.Sprintf("handed over  %s  from %s to %s", lock, from.Owner(), to.Owner())) ||
			strings.Contains(text, fmt.Sprintf("released     %s  by %s", lock, from.Owner())) &&
				strings.Contains(text, fmt.Sprintf("held         %s  by %s", lock, to.Owner()))
	}, c.out.String)
}

func becomes(t *testing.T, what string, is func() bool, instead func() string) {
	t.Helper()
	redistest.Becomes(t, what, is, instead)
}

func nothing() string { return "" }

func open(t *testing.T, url string, opts ...rlock.Option) *rlock.Client {
	t.Helper()
	c, err := rlock.Open(t.Context(), url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func acquire(t *testing.T, l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
	t.Helper()
	h, err := l.TryLock(t.Context(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// enter waits for a lock in the background, and sends the hold.
func enter(t *testing.T, l *rlock.Lock) <-chan *rlock.Hold {
	t.Helper()
	ch := make(chan *rlock.Hold, 1)
	go func() {
		defer close(ch)
		h, _ := l.Lock(t.Context()) // nil if the test ended first
		ch <- h
	}()
	t.Cleanup(func() {
		for range ch {
		}
	})
	return ch
}

// gone tells whether a process has ended, even if nobody has waited for it.
func gone(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	_, after, _ := strings.Cut(string(stat), ") ")
	return err != nil || strings.HasPrefix(after, "Z") || strings.HasPrefix(after, "X")
}

func single(t *testing.T) string { return redistest.Start(t).URL() }
