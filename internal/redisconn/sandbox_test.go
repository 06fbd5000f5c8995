//go:build linux && (amd64 || arm64) && !norawsyscall

package redisconn

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// sandboxed is the variable by which a process in a sandbox gets the sandbox's answer and a
// server's address.
const sandboxed = "RLOCK_TEST_SANDBOXED"

var forbidden = map[string]syscall.Errno{"EPERM": syscall.EPERM, "ENOSYS": syscall.ENOSYS}

// Connections work even if a sandbox permits only read and write, as for files.
func TestConnectionsWorkWhereTheCallsAreForbidden(t *testing.T) {
	if _, inside := os.LookupEnv(sandboxed); inside {
		t.Skip("this is the process inside")
	}
	s := redistest.Start(t)
	for answer := range forbidden {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInASandbox$", "-test.count=1", "-test.v")
			cmd.Env = append(os.Environ(), sandboxed+"="+answer+" "+s.URL())
			out, err := cmd.CombinedOutput()
			if strings.Contains(string(out), "no sandbox to be had") && os.Getenv("CI") != "true" {
				t.Skip(string(out))
			}
			if err != nil || !strings.Contains(string(out), "--- PASS: TestInASandbox") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestInASandbox is run by the test before in a separate process.
func TestInASandbox(t *testing.T) {
	answer, url, inside := strings.Cut(os.Getenv(sandboxed), " ")
	if !inside {
		t.Skip("this process is in none")
	}
	near, far := dialPair(t)
	if err := forbid(forbidden[answer]); err != nil {
		t.Fatal("no sandbox to be had:", err)
	}
	if _, err := syscall.Write(-1, nil); err != syscall.EBADF {
		t.Fatalf("write answers %v", err)
	}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, ^uintptr(0), 0, 0, 0, 0, 0)
	if errno != forbidden[answer] {
		t.Fatalf("recvfrom answers %v, want %s", errno, answer)
	}

	// A connection that was open before.
	s, p := newStream(near), make([]byte, 100)
	if n, err := s.ReadSome(p, false); n != 0 || err != nil {
		t.Errorf("nothing has come: %d, %v", n, err)
	}
	if _, err := newStream(far).WriteSome([]byte(":1\r\n"), true); err != nil {
		t.Error(err)
	}
	if n, err := s.ReadSome(p, true); string(p[:n]) != ":1\r\n" || err != nil {
		t.Errorf("%q, %v", p[:n], err)
	}
	near.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := s.ReadSome(p, true); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("past its deadline: %v", err)
	}

	// A new connection.
	target, err := ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, err := target.Dial(ctx, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 10 {
		if reply, err := c.Do("PING"); reply != "PONG" || err != nil {
			t.Fatalf("%v, %v", reply, err)
		}
	}
}

// forbid makes recvfrom and sendto return errno from now on, in the whole process.
func forbid(errno syscall.Errno) error {
	const number, allow = 0, 0x7fff0000 // where the filter finds the call's number
	answer := uint32(unix.SECCOMP_RET_ERRNO) | uint32(errno)
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_RECVFROM, Jt: 1},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_SENDTO, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: answer},
		{Code: unix.BPF_RET | unix.BPF_K, K: allow},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread() // the first setting is the thread's, the second then all threads'
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, err := syscall.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if err != 0 {
		return err
	}
	return nil
}
