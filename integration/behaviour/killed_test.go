package behaviour_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// childEnv makes the test binary hold a lock instead of running tests: "url name watchdogTimeout".
const childEnv = "RLOCK_BEHAVIOUR_CHILD"

// holdUntilKilled takes the lock, says so, and holds it until its standard input ends, which it does when the parent
// dies: a child must not outlive its test.
func holdUntilKilled() int {
	var url, name, timeout string
	if _, err := fmt.Sscan(os.Getenv(childEnv), &url, &name, &timeout); err != nil {
		fmt.Println("failed:", err)
		return 1
	}
	d, err := time.ParseDuration(timeout)
	if err != nil {
		fmt.Println("failed:", err)
		return 1
	}
	ctx := context.Background()
	c, err := rlock.Open(ctx, url, rlock.WithWatchdogTimeout(d))
	if err != nil {
		fmt.Println("failed:", err)
		return 1
	}
	h, err := c.NewLock(name).Lock(ctx)
	if err != nil {
		fmt.Println("failed:", err)
		return 1
	}
	fmt.Println("holding", h.Owner())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

func TestLockOfKilledProcessIsEnteredWithinItsTTL(t *testing.T) {
	t.Parallel()
	const timeout = 6 * time.Second
	r := start(t)
	name := r.name()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s", childEnv, r.Server.URL(), name, timeout))
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	owner, holds := strings.CutPrefix(strings.TrimSpace(line), "holding ")
	if !holds {
		t.Fatalf("the child said %q, %v", line, err)
	}
	if r.Text("HGET", name, owner) != "1" {
		t.Fatal("the child does not hold the lock")
	}
	waiter := r.enter(r.open().NewLock(name))
	r.Listeners(name, 1)
	// It outlives its first lease: the child's watchdog works.
	first := time.Now()
	for time.Since(first) < timeout*3/2 {
		if left := r.PTTL(name); left <= 0 {
			t.Fatalf("TTL %v while the child lives", left)
		}
		<-time.After(20 * time.Millisecond)
	}
	r.outside(waiter)

	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	dead := time.Now()
	left := r.PTTL(name)
	e := r.Entered(waiter)
	between(t, "entering after the kill", e.At.Sub(dead), left-stall, left+stall)
	if left > timeout {
		t.Errorf("TTL %v", left)
	}
	r.Unlock(e.Hold)
}
