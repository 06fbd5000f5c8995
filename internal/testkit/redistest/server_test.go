//go:build unix

package redistest

import (
	"errors"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/leakcheck"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func ping(t *testing.T, c redis.Conn) {
	t.Helper()
	if got, err := redis.String(c.Do("PING")); err != nil || got != "PONG" {
		t.Fatalf("PING: %q, %v", got, err)
	}
}

func TestServerAnswersAndIsGoneAfterwards(t *testing.T) {
	t.Parallel()
	var pid int
	var addr string
	t.Run("inner", func(t *testing.T) {
		s := Start(t)
		pid, addr = s.Pid(), s.Addr()
		ping(t, s.Dial(t))
		if s.URL() != "redis://"+addr {
			t.Errorf("URL %q for %q", s.URL(), addr)
		}
	})
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is still there: %v", pid, err)
	}
	if c, err := net.Dial("tcp", addr); err == nil {
		c.Close()
		t.Error("somebody still listens")
	}
}

func TestRestartKeepsThePortAndLosesTheKeys(t *testing.T) {
	t.Parallel()
	s := Start(t)
	addr, pid := s.Addr(), s.Pid()
	if _, err := s.Dial(t).Do("SET", "k", "v"); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	s.Stop()
	if s.Pid() != 0 {
		t.Error("a stopped server has a process id")
	}
	s.Restart()
	if s.Addr() != addr || s.Pid() == pid {
		t.Errorf("was %s process %d, is %s process %d", addr, pid, s.Addr(), s.Pid())
	}
	if v, err := s.Dial(t).Do("GET", "k"); v != nil || err != nil {
		t.Errorf("GET: %v, %v", v, err)
	}
}

func TestPausedServerAnswersAfterResume(t *testing.T) {
	t.Parallel()
	s := Start(t)
	c := s.Dial(t)
	ping(t, c)
	s.Pause()
	if err := c.Send("PING"); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(s.Pid()) + "/stat")
	if err == nil && !strings.Contains(string(stat), ") T ") {
		t.Errorf("not paused: %s", stat)
	}
	s.Resume()
	if got, err := redis.String(c.Receive()); err != nil || got != "PONG" {
		t.Errorf("after Resume: %q, %v", got, err)
	}
	s.Pause()
	s.Stop()
}

func TestOccupiedPortIsNotTakenForOurs(t *testing.T) {
	t.Parallel()
	first := Start(t)
	second := &Server{t: t, bin: first.bin, dir: t.TempDir(), port: first.Port()}
	if err := second.start(); err == nil {
		second.Kill()
		t.Fatal("started on an occupied port")
	}
	ping(t, first.Dial(t))
}

func TestPasswordIsUsed(t *testing.T) {
	t.Parallel()
	s := Start(t, "--requirepass", "p@ss")
	ping(t, s.Dial(t))
	if want := "redis://:p%40ss@" + s.Addr(); s.URL() != want {
		t.Errorf("URL %q, want %q", s.URL(), want)
	}
	m := monitor.Tap(t, s.URL())
	ping(t, s.Dial(t))
	if got := m.Mark(); !slices.ContainsFunc(got, func(l monitor.Line) bool { return l.String() == "PING" }) {
		t.Errorf("monitor saw %v", got)
	}
}

// Otherwise another process's server could answer the clients of a killed one.
func TestNoTwoProcessesHaveTheSamePorts(t *testing.T) {
	t.Parallel()
	somewhere := os.Getpid()
	var firsts []int
	for range 3 {
		first, claim, err := claimRange(somewhere)
		if err != nil {
			t.Fatal(err)
		}
		defer claim.Close()
		if slices.Contains(firsts, first) {
			t.Errorf("two have the ports from %d on", first)
		}
		firsts = append(firsts, first)
	}
}

// What was sent to a paused server is lost when it is killed.
func TestKilledServerRunsNothingMore(t *testing.T) {
	t.Parallel()
	for range 20 {
		s := Start(t, "--appendonly", "yes", "--appendfsync", "always")
		c := s.Dial(t)
		ping(t, c)
		s.Pause()
		if err := errors.Join(c.Send("SET", "x", "1"), c.Flush()); err != nil {
			t.Fatal(err)
		}
		s.Kill()
		s.Restart()
		if n, err := redis.Int(s.Dial(t).Do("EXISTS", "x")); err != nil || n != 0 {
			t.Fatalf("it ran once more before it died: %d, %v", n, err)
		}
	}
}
