//go:build unix

package rlock_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/deathsig"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// ofProcess is the environment variable that makes this binary run TestProcess: the server's URL.
const ofProcess = "RLOCK_TEST_PROCESS"

// TestProcess is what the processes of the test below run.
func TestProcess(t *testing.T) {
	url := os.Getenv(ofProcess)
	if url == "" {
		t.Skip("is for processes of another test")
	}
	say := func(what string) { fmt.Printf("witness %d %s\n", os.Getpid(), what) }
	_ = openWith(t, url, rlock.WithWatchdogTimeout(leadLease)).NewLock("leader").Lead(t.Context(), func(ctx context.Context) error {
		say("leads")
		for ; ctx.Err() == nil; time.Sleep(2 * time.Millisecond) { // a pace: each line goes through the pipe
			say("acts")
		}
		say("stops")
		return nil
	})
}

// A said is one line of a process.
type said struct {
	pid  int
	what string
	at   time.Time
}

// stage starts processes. All of them write into one pipe, so the kernel orders their lines.
type stage struct {
	t    *testing.T
	pipe *os.File
	says chan said
	all  map[int]*exec.Cmd
}

func newStage(t *testing.T) *stage {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t, w, make(chan said, 1000), map[int]*exec.Cmd{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(s.says)
		for lines := bufio.NewScanner(r); lines.Scan(); {
			word := strings.Fields(lines.Text())
			if len(word) != 3 || word[0] != "witness" {
				continue // the test framework's
			}
			pid, _ := strconv.Atoi(word[1])
			s.says <- said{pid, word[2], time.Now()}
		}
	}()
	t.Cleanup(func() {
		for pid := range s.all {
			s.kill(pid)
		}
		w.Close()
		for range s.says { // lets the reader end
		}
		<-read
		r.Close()
	})
	return s
}

// start starts a process that stands for leader.
func (s *stage) start(url string) {
	s.t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestProcess$")
	cmd.Env = append(os.Environ(), ofProcess+"="+url)
	cmd.Stdout = s.pipe
	cmd.SysProcAttr = deathsig.Attr(syscall.SIGKILL)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.all[cmd.Process.Pid] = cmd
}

// kill kills a process and waits for its end. It writes nothing after that.
func (s *stage) kill(pid int) {
	_ = s.all[pid].Process.Kill()
	_ = s.all[pid].Wait()
	delete(s.all, pid)
}

func (s *stage) signal(pid int, sig syscall.Signal) {
	s.t.Helper()
	if err := s.all[pid].Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
	if sig == syscall.SIGSTOP { // the stop takes a while on a busy machine
		if _, err := syscall.Wait4(pid, new(syscall.WaitStatus), syscall.WUNTRACED, nil); err != nil {
			s.t.Fatal(err)
		}
	}
}

const mark = "ends"

// mark writes a line for a killed or stopped process, after all lines of its own.
func (s *stage) mark(pid int) { fmt.Fprintln(s.pipe, "witness", pid, mark) }

// next returns the next line.
func (s *stage) next(within time.Duration) said {
	s.t.Helper()
	select {
	case next := <-s.says:
		return next
	case <-time.After(within):
		s.t.Fatalf("nobody says anything for %v", within)
		panic("unreachable")
	}
}

// Leaders are killed or stopped, or lose their server. The common pipe shows that nobody acts while another process
// leads, and that another one leads within the lease and two seconds.
func TestOneOfSeveralProcessesLeads(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "leases have to end")
	server := redistest.Start(t)
	s := newStage(t)
	for range 3 {
		s.start(server.URL())
	}
	leader, began, woken, late := 0, time.Now(), 0, 0
	// follow reads lines until a new leader leads, and up to the mark after all lines of the former one.
	follow := func(what string, former int) {
		t.Helper()
		for led, marked := false, former == 0; !led || !marked; {
			const most = leadLease + 2*time.Second
			now := s.next(most + 20*time.Second)
			switch {
			case now.what == mark:
				if marked = true; leader == former {
					leader = 0
				}
			case now.what == "leads" && (leader == 0 || leader == former):
				leader, led = now.pid, true
				took := now.at.Sub(began)
				t.Logf("%s: a leader after %v", what, took.Round(time.Millisecond))
			case now.pid == leader && now.what == "stops":
				leader = 0
			case now.pid == leader || now.what == "stops":
			case now.what == "acts" && now.pid == woken && late == 0:
				late++ // it had checked its context before it was stopped
			default:
				t.Fatalf("%s: %d %s while %d leads", what, now.pid, now.what, leader)
			}
		}
	}
	// leads reads lines up to the leader's last one.
	leads := func(last func(what string) bool) {
		t.Helper()
		for {
			switch now := s.next(20 * time.Second); {
			case now.pid == leader && last(now.what):
				return
			case now.pid == leader || now.what != "acts":
			case now.pid == woken && late == 0:
				late++
			default:
				t.Errorf("%d acts while %d leads", now.pid, leader)
			}
		}
	}
	acts := func() {
		t.Helper()
		n := 0
		leads(func(string) bool { n++; return n == 20 })
	}
	follow("begin", 0)
	acts()
	killed := leader
	began = time.Now()
	s.kill(killed)
	s.mark(killed)
	follow("killed", killed)

	acts()
	still := leader
	began = time.Now()
	s.signal(still, syscall.SIGSTOP)
	s.mark(still)
	follow("stands still", still)
	woken, late = still, 0
	s.signal(still, syscall.SIGCONT)
	acts()

	server.Pause()
	leads(func(what string) bool { return what == "stops" }) // it loses the lock by its own clock
	leader = 0
	began = time.Now()
	server.Resume()
	follow("without a server", 0)
}

// AtLeast keeps nothing from others that take the lock away, neither before the release nor after it.
func TestAtLeastEndsWithALossOrByForce(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := server.Dial(t)
	a, b := openWith(t, server.URL()), openWith(t, server.URL())
	for what, takes := range map[string]func(name string) error{
		"DEL":         func(name string) error { _, err := conn.Do("DEL", name); return err },
		"ForceUnlock": func(name string) error { _, err := b.NewLock(name).ForceUnlock(t.Context()); return err },
	} {
		for _, released := range []bool{false, true} {
			name := fmt.Sprint(what, released)
			h := lock(t, a, name, rlock.AtLeast(time.Hour))
			if released {
				if err := h.Unlock(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := takes(name); err != nil {
				t.Fatal(err)
			}
			next := lock(t, b, name)
			if !released {
				if err := h.Unlock(t.Context()); !errors.Is(err, rlock.ErrLeaseLost) || !errors.Is(err, rlock.ErrNotHeld) {
					t.Errorf("%s: the unlock of what is lost: %v", what, err)
				}
			}
			fields, err := redis.Strings(conn.Do("HKEYS", name))
			if ttl, err2 := redis.Int64(conn.Do("PTTL", name)); err != nil || err2 != nil || !slices.Equal(fields, []string{next.Owner().String()}) || ttl > 30_000 {
				t.Errorf("%s, released %t: %q live for %d ms, %v", what, released, fields, ttl, errors.Join(err, err2))
			}
			if err := next.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
			if n, err := conn.Do("EXISTS", name); n != int64(0) || err != nil {
				t.Errorf("%s, released %t: %v keys are left, %v", what, released, n, err)
			}
		}
	}
}
