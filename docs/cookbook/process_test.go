//go:build unix

// Package cookbook_test runs the recipes' programs as processes against a real
// redis-server, and holds the page against their text.
package cookbook_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// patience is for what should take a moment on a machine that does other
// things too.
const patience = 30 * time.Second

// lease is what the programs are given for -watchdog where a test waits for
// the end of one.
const lease = 3 * time.Second

var binaries string

func TestMain(m *testing.M) {
	// Recipes wait most of the time, so several are cooked at once.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(build(m))
}

// build makes the programs before the tests run them.
func build(m *testing.M) int {
	var err error
	if binaries, err = os.MkdirTemp("", "cookbook-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(binaries)
	if out, err := exec.Command("go", "build", "-o", binaries+"/", "./...").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// process is a running program and what it has printed so far.
type process struct {
	t     *testing.T
	name  string
	cmd   *exec.Cmd
	input io.WriteCloser
	done  chan struct{} // closed when the process is gone and lines is complete

	mu    sync.Mutex // guards lines
	lines []string
}

// start runs a recipe's program on a server. It is killed when the test ends.
func start(t *testing.T, server *redistest.Server, program string, args ...string) *process {
	t.Helper()
	return startBy(t, server.URL(), program, args...)
}

// startBy is start by a URL.
func startBy(t *testing.T, url, program string, args ...string) *process {
	t.Helper()
	p := &process{t: t, name: program, cmd: exec.Command(filepath.Join(binaries, program), args...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "REDIS_URL="+url)
	output, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = w, w
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	err = p.cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		defer output.Close()
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			p.mu.Lock()
			p.lines = append(p.lines, scanner.Text())
			p.mu.Unlock()
		}
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // a stopped process, too
		<-p.done
		if t.Failed() {
			t.Logf("%s %q printed:\n%s", program, args, strings.Join(p.printed(), "\n"))
		}
	})
	return p
}

func (p *process) printed() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.lines)
}

// count tells how many lines begin with prefix.
func (p *process) count(prefix string) (n int) {
	for _, line := range p.printed() {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// await waits for a line that begins with prefix.
func (p *process) await(prefix string) {
	p.t.Helper()
	await(p.t, fmt.Sprintf("%s to print %q", p.name, prefix), func() bool { return p.count(prefix) > 0 })
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// goOn ends a stall, and a stop by a signal if there was one.
func (p *process) goOn() {
	p.t.Helper()
	if _, err := p.input.Write([]byte("\n")); err != nil {
		p.t.Fatal(err)
	}
	p.signal(syscall.SIGCONT)
}

// end waits until the process is gone and returns its exit code.
func (p *process) end() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.t.Fatalf("%s does not end", p.name)
	}
	return p.cmd.ProcessState.ExitCode()
}

// wantEnd waits for the end, and for a code and a line.
func (p *process) wantEnd(code int, prefix string) {
	p.t.Helper()
	if got := p.end(); got != code || p.count(prefix) == 0 {
		p.t.Errorf("%s ended with %d, want %d and a line %q; it printed %q", p.name, got, code, prefix, p.printed())
	}
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// number is an integer reply, 0 for nil.
func number(t *testing.T, c redis.Conn, command string, args ...any) int64 {
	t.Helper()
	n, err := redis.Int64(c.Do(command, args...))
	if err != nil && !errors.Is(err, redis.ErrNil) {
		t.Fatalf("%s %v: %v", command, args, err)
	}
	return n
}

// waiting counts the processes that listen for the release of a lock.
func waiting(t *testing.T, c redis.Conn, lock string) int64 {
	t.Helper()
	reply, err := redis.Values(c.Do("PUBSUB", "NUMSUB", codec.Channel(lock)))
	if err != nil || len(reply) != 2 {
		t.Fatal(reply, err)
	}
	return reply[1].(int64)
}
