package javapeer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/deathsig"
)

const (
	// buildTimeout leaves time for a first download over a slow connection.
	buildTimeout = 10 * time.Minute
	readyTimeout = 60 * time.Second
	// quitGrace is longer than the peer's own limit for quitting.
	quitGrace = 10 * time.Second
)

// A test machine has few cores and many JVMs, most of which end before a second compiler pays off.
var jvmArgs = []string{"-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}

// ErrGone is wrapped by the error of a command whose peer has ended.
var ErrGone = errors.New("the peer is gone")

// Peer is one JVM with one Redisson client. Its methods, and those of its threads, are safe for concurrent use.
type Peer struct {
	// Version is the version of Redisson that the JVM loaded.
	Version string
	// ID is the client's UUID, the first part of the owner of each of its threads.
	ID string
	// PID is the process id of the JVM.
	PID int

	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr *lastBytes
	calls  *calls
	gone   chan struct{} // closed when cmd.Wait has returned
	exit   error         // result of cmd.Wait; read only after gone is closed
}

// Start builds the peer for a Redisson version if needed, starts it against the server at addr, and returns when it is
// connected. addr is host:port; a redis:// or rediss:// URL without path and credentials; redis+cluster:// with several
// addresses; redis+sentinel:// with Sentinels' addresses, a slash and the master's name; redis+replicas:// with the addresses
// of a master and its replicas; or redis+replicated:// with the same, whose roles may change. The peer's standard error is logged if the test fails. If the peer does not
// come up, or java or Maven is missing, the test fails at once. The peer quits when the test ends.
func Start(t testing.TB, version, addr string, opts ...Option) *Peer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
	defer cancel()
	p, err := Launch(ctx, version, addr, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Quit(); err != nil {
			t.Logf("javapeer: Redisson %s: %v", p.Version, err)
		}
		if text := p.Stderr(); t.Failed() && text != "" {
			t.Logf("javapeer: Redisson %s, pid %d, wrote:\n%s", p.Version, p.PID, text)
		}
	})
	return p
}

// Launch is [Start] without a test. The caller must end the peer with [Peer.Quit] or [Peer.Kill]. ctx bounds only
// building and starting.
func Launch(ctx context.Context, version, addr string, opts ...Option) (*Peer, error) {
	b, err := build(ctx, version)
	if err != nil {
		return nil, err
	}
	java, err := tool("java")
	if err != nil {
		return nil, err
	}
	var c config
	for _, o := range opts {
		o(&c)
	}
	if !strings.Contains(addr, "://") {
		addr = "redis://" + addr
	}
	// Standard output is for replies only, so the JVM's warnings about the archive go to standard error.
	args := slices.Concat(jvmArgs, []string{"-Xlog:disable", "-Xlog:all=warning:stderr", "-XX:SharedArchiveFile=" + b.archived()},
		c.jvm, []string{"-cp", b.classPath(), "rlock.peer.Peer", addr})
	cmd := exec.Command(java, append(args, c.settings...)...)
	cmd.SysProcAttr = deathsig.Attr(syscall.SIGKILL)

	p := &Peer{cmd: cmd, stderr: &lastBytes{}, gone: make(chan struct{})}
	cmd.Stderr = p.stderr
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("javapeer: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("javapeer: %w", err)
	}
	p.calls = newCalls(p.stdin)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("javapeer: %w", err)
	}
	p.PID = cmd.Process.Pid
	ready := make(chan error, 1)
	go p.run(stdout, ready)

	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	select {
	case err = <-ready:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		p.Kill()
		return nil, fmt.Errorf("javapeer: Redisson %s at %s did not come up: %w\n%s", version, addr, err, p.Stderr())
	}
	return p, nil
}

// run reads all output of the peer, and ends with the process.
func (p *Peer) run(stdout io.Reader, ready chan<- error) {
	defer close(p.gone)
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, maxLine)
	err := p.greeting(lines)
	ready <- err
	if err == nil {
		err = p.calls.receive(lines)
	}
	if err != nil {
		// The output is not the protocol, so no further command can work.
		p.cmd.Process.Kill()
		io.Copy(io.Discard, stdout)
	}
	p.exit = p.cmd.Wait()
	p.calls.end(errors.Join(ErrGone, err, p.exit))
}

// greeting reads the first line: ready <version> <client id> <pid>.
func (p *Peer) greeting(lines *bufio.Scanner) error {
	if !lines.Scan() {
		return errors.Join(errors.New("it ended without a greeting"), lines.Err())
	}
	fields := strings.Split(lines.Text(), " ")
	if len(fields) != 4 || fields[0] != "ready" || fields[3] != strconv.Itoa(p.PID) {
		return fmt.Errorf("it greeted with %q", lines.Text())
	}
	values, err := decode(fields[1:3])
	if err != nil {
		return err
	}
	p.Version, p.ID = values[0], values[1]
	return nil
}

// Quit resumes a paused peer, asks it to shut its client down, and waits until the process has ended. Locks that it
// holds are left to expire. It is an error if the exit status is not 0, or if the peer takes longer than 10 s and is
// killed. If the peer had already ended, Quit does nothing.
func (p *Peer) Quit() error {
	select {
	case <-p.gone:
		return nil
	default:
	}
	p.Resume()
	// Closing standard input works like the quit command, and cannot block on a full pipe.
	p.stdin.Close()
	timer := time.NewTimer(quitGrace)
	defer timer.Stop()
	select {
	case <-p.gone:
		return p.exit
	case <-timer.C:
		p.Kill()
		return fmt.Errorf("javapeer: did not quit within %v and was killed", quitGrace)
	}
}

// Kill ends the JVM as a crash would and returns when it is gone. Commands in flight return [ErrGone].
func (p *Peer) Kill() {
	p.cmd.Process.Kill()
	<-p.gone
	p.stdin.Close()
}

// Stderr is the end (32 KiB) of the JVM's standard error: Redisson's warnings, and the reason if it did not start.
func (p *Peer) Stderr() string { return p.stderr.String() }

const stderrKept = 32 << 10

// lastBytes keeps the end of what is written to it.
type lastBytes struct {
	mu    sync.Mutex // guards bytes
	bytes []byte
}

func (l *lastBytes) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes = append(l.bytes, b...)
	if extra := len(l.bytes) - stderrKept; extra > 0 {
		l.bytes = append(l.bytes[:0], l.bytes[extra:]...)
	}
	return len(b), nil
}

func (l *lastBytes) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.bytes)
}
