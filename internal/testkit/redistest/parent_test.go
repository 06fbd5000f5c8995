//go:build unix

package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childEnv makes a test run its other part, in a separate test binary.
const childEnv = "REDISTEST_CHILD"

func child(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(append(os.Environ(), childEnv+"=1"), env...)
	return cmd
}

func TestMissingBinaryFailsAndTellsWhatToInstall(t *testing.T) {
	t.Parallel()
	if os.Getenv(childEnv) != "" {
		Start(t)
		return
	}
	out, err := child(t, "RLOCK_REDIS_SERVER=/nonexistent/redis-server").CombinedOutput()
	if err == nil {
		t.Errorf("passed without a server:\n%s", out)
	}
	for _, want := range []string{"/nonexistent/redis-server", "install Redis", "RLOCK_REDIS_SERVER"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

func TestServerDiesWithAKilledTestBinary(t *testing.T) {
	if os.Getenv(childEnv) != "" {
		fmt.Println("pid", Start(t).Pid())
		_, _ = io.Copy(io.Discard, os.Stdin) // until killed
		return
	}
	if runtime.GOOS != "linux" {
		return // promised for Linux only
	}
	cmd := child(t)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	for lines := bufio.NewScanner(out); pid == 0 && lines.Scan(); {
		_, _ = fmt.Sscanf(lines.Text(), "pid %d", &pid)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if pid == 0 {
		t.Fatal("the other test binary started no server")
	}
	deadline := time.Now().Add(stopTimeout)
	for !gone(pid) {
		if time.Now().After(deadline) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("server %d outlives its test binary", pid)
		}
		time.Sleep(pollEvery)
	}
}

// gone reports whether the process has ended. Without a process that collects orphans it stays as
// a zombie.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}
