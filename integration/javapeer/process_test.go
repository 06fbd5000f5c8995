package javapeer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/redistest"
)

func running(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestQuitLeavesNoProcess(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		server := redistest.Start(t)
		ok := must(t)
		p := Start(t, version, server.Addr())
		ok(p.Thread("t1").Lock(t.Context(), "n", Watchdog))
		waiting := call(func() (Reply, error) { return p.Thread("t2").Lock(t.Context(), "n", Watchdog) })
		awaitParked(t, p.Thread("t2"))
		if err := p.Quit(); err != nil {
			t.Fatal(err)
		}
		if running(p.PID) {
			t.Fatal("the process is there")
		}
		// Redisson may still answer it with an exception of the shutdown.
		_, err := await(t, waiting)
		if _, exception := errors.AsType[*JavaError](err); !exception && !errors.Is(err, ErrGone) {
			t.Errorf("a command in flight ended with %v", err)
		}
		if _, err := p.Thread("t1").Owner(t.Context()); !errors.Is(err, ErrGone) {
			t.Errorf("a command after the end: %v", err)
		}
		if err := p.Quit(); err != nil {
			t.Errorf("the second Quit: %v", err)
		}
	})
}

func TestQuitCommandAnswersBeforeTheEnd(t *testing.T) {
	server := redistest.Start(t)
	p := Start(t, Newest, server.Addr())
	if _, err := p.calls.do(t.Context(), "quit"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the process", func() bool { return !running(p.PID) })
}

func TestKilledPeerLeavesTheLockToItsLease(t *testing.T) {
	server := redistest.Start(t)
	ok := must(t)
	p, q := Start(t, Newest, server.Addr()), Start(t, Newest, server.Addr())
	ok(p.Thread("t1").Lock(t.Context(), "n", time.Second))
	entered := call(func() (Reply, error) { return q.Thread("t1").Lock(t.Context(), "n", Watchdog) })
	awaitParked(t, q.Thread("t1"))
	p.Kill()
	if running(p.PID) {
		t.Fatal("the process is there")
	}
	if _, err := await(t, entered); err != nil {
		t.Fatal(err)
	}
}

func TestPausedPeerRenewsNothing(t *testing.T) {
	server := redistest.Start(t)
	redisConn := server.Dial(t)
	ok := must(t)
	p := Start(t, Newest, server.Addr(), WatchdogTimeout(900*time.Millisecond))
	th := p.Thread("t1")
	ok(th.Lock(t.Context(), "n", Watchdog))
	if err := p.Pause(); err != nil {
		t.Fatal(err)
	}
	if !p.stopped() {
		t.Fatal("it runs")
	}
	eventually(t, "an expired lock", func() bool { return !exists(t, redisConn, "n") })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := th.IsHeld(ctx, "n"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a paused peer answered: %v", err)
	}
	if err := p.Resume(); err != nil {
		t.Fatal(err)
	}
	if ok(th.IsHeld(t.Context(), "n")).Bool() {
		t.Fatal("held")
	}
	if err := p.Pause(); err != nil {
		t.Fatal(err)
	}
	if err := p.Quit(); err != nil {
		t.Fatalf("quitting a paused peer: %v", err)
	}
}

func TestCommandIsBoundedByItsContextOnly(t *testing.T) {
	server := redistest.Start(t)
	ok := must(t)
	p := Start(t, Newest, server.Addr())
	t1, t2 := p.Thread("t1"), p.Thread("t2")
	ok(t1.Lock(t.Context(), "n", Watchdog))
	ctx, cancel := context.WithCancel(t.Context())
	waiting := call(func() (Reply, error) { return t2.Lock(ctx, "n", Watchdog) })
	awaitParked(t, t2)
	cancel()
	if _, err := await(t, waiting); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	// Java goes on; what it answers to nobody disturbs no other command.
	ok(t1.Unlock(t.Context(), "n"))
	ok(t2.Unlock(t.Context(), "n"))
}

const orphanEnv = "JAVAPEER_TEST_ORPHANS"

// launchOrphans is a test process that will be killed: it tells the pids of two
// peers, the second of them paused, and never ends.
func launchOrphans() {
	for i := range 2 {
		p, err := Launch(context.Background(), Newest, os.Getenv(orphanEnv))
		if err == nil && i == 1 {
			err = p.Pause()
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("pid", p.PID)
	}
	select {}
}

func TestNoPeerOutlivesTheTestProcess(t *testing.T) {
	server := redistest.Start(t)
	if err := Build(t.Context(), Newest); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), orphanEnv+"="+server.Addr())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var pids []int
	for len(pids) < 2 && lines.Scan() {
		var pid int
		if _, err := fmt.Sscanf(lines.Text(), "pid %d", &pid); err != nil {
			t.Errorf("the process said %q", lines.Text())
			break
		}
		pids = append(pids, pid)
	}
	for _, pid := range pids {
		if !running(pid) {
			t.Errorf("peer %d is gone too early", pid)
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	if len(pids) != 2 {
		t.Fatal("two peers did not start")
	}
	for _, pid := range pids {
		eventually(t, "the end of an orphan", func() bool { return !running(pid) || zombie(pid) })
	}
}

// zombie: an orphan's last trace is its new parent's to remove.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z")
}
