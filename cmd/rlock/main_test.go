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

	"github.com/rlock-go/redisson/internal/deathsig"
	"github.com/rlock-go/redisson/internal/leakcheck"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/rlock"
)

var full = flag.Bool("full", false, "lose twenty locks, and look through a million keys")

// The test binary is the tool where the environment says so.
const isTool = "RLOCK_TEST_TOOL"

func TestMain(m *testing.M) {
	if os.Getenv(isTool) != "" {
		os.Unsetenv(isTool)
		main()
	}
	leakcheck.Main(m)
}

// patience is for what comes at once if all is well.
const patience = 30 * time.Second

// tool is a run of the tool.
type tool struct {
	*exec.Cmd
	t        *testing.T
	out, err said
	output   io.Writer // of one on a terminal; nil: the terminal
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
	c.SysProcAttr = deathsig.Attr(syscall.SIGKILL)
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

// status waits for its end, which may not be that of prepare's patience.
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

// ended runs the tool to its end, with this status, and gives what it wrote.
func ended(t *testing.T, status int, url string, args ...string) string {
	t.Helper()
	c := begin(t, url, args...)
	if got := c.status(); got != status {
		t.Fatalf("rlock %q: status %d, not %d; %s%s", args, got, status, &c.out, &c.err)
	}
	return c.out.String() + c.err.String()
}

// says waits until it has written some text.
func (c *tool) says(text string) {
	c.t.Helper()
	becomes(c.t, "it says "+text, func() bool { return strings.Contains(c.out.String(), text) || strings.Contains(c.err.String(), text) },
		func() string { return c.out.String() + c.err.String() })
}

// onTerminal starts it with a terminal. What it writes there is read until it has ended.
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
				return // its other end is closed
			}
		}
	}()
	return f, done
}

// stat is a field of what the system says of the process, from its state (0) on: 2 is its
// group, 5 the one that has its terminal.
func (c *tool) stat(field int) string {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
	_, after, _ := strings.Cut(string(stat), ") ")
	if fields := strings.Fields(after); len(fields) > field {
		return fields[field]
	}
	return ""
}

// handedOver waits until watch has seen that; a look may have come between the two.
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

// enter waits for a lock on a goroutine of its own; the hold comes from the channel.
func enter(t *testing.T, l *rlock.Lock) <-chan *rlock.Hold {
	t.Helper()
	ch := make(chan *rlock.Hold, 1)
	go func() {
		defer close(ch)
		h, _ := l.Lock(t.Context()) // nil when the test is over
		ch <- h
	}()
	t.Cleanup(func() {
		for range ch {
		}
	})
	return ch
}

// gone tells whether a process has ended, or is left to be waited for.
func gone(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	_, after, _ := strings.Cut(string(stat), ") ")
	return err != nil || strings.HasPrefix(after, "Z") || strings.HasPrefix(after, "X")
}

func single(t *testing.T) string { return redistest.Start(t).URL() }
