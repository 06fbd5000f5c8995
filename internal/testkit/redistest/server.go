package redistest

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// Server is one redis-server process. Its methods are safe for concurrent use;
// those that can fail the test must be called from the test's own goroutine.
type Server struct {
	t    testing.TB
	bin  string
	dir  string
	args []string
	conf string // a file of settings, for a Sentinel; empty: none
	pass string

	// mu guards proc and port; it is held for the whole of a start or stop, so
	// that two of them never overlap.
	mu   sync.Mutex
	port int
	proc *process // nil while stopped
}

// Start starts a redis-server and returns once it answers. args are added to
// its command line and override the defaults (--save "" --appendonly no). The
// server is killed when the test ends. Without a binary the test fails.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	s := &Server{t: t, bin: binary(t), dir: t.TempDir(), args: slices.Clone(args)}
	if i := slices.Index(args, "--requirepass"); i >= 0 && i+1 < len(args) {
		s.pass = args[i+1]
	}
	return s.begin()
}

// StartSentinel is Start for a Sentinel with these lines of settings. Without lines it
// watches no master. pass is the password that they set, if any. The Sentinel writes what
// it learns to its settings file, and still knows it after Restart.
func StartSentinel(t testing.TB, pass string, settings ...string) *Server {
	t.Helper()
	s := &Server{t: t, bin: binary(t), dir: t.TempDir(), args: []string{"--sentinel"}, pass: pass}
	s.conf = filepath.Join(s.dir, "sentinel.conf")
	if err := os.WriteFile(s.conf, []byte(strings.Join(settings, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return s.begin()
}

// begin starts the server on a free port.
func (s *Server) begin() *Server {
	t := s.t
	t.Helper()
	t.Cleanup(func() { s.Kill(); leavePort(s.Port()) })

	var errs []error
	for range startTries {
		port, err := freePort()
		if err != nil {
			t.Fatalf("redistest: %v", err)
		}
		s.mu.Lock()
		s.port = port
		err = s.start()
		s.mu.Unlock()
		if err == nil {
			return s
		}
		leavePort(port)
		errs = append(errs, err)
	}
	t.Fatalf("redistest: no server after %d tries: %v", startTries, errors.Join(errs...))
	return nil
}

// Addr returns host:port of the server, the same after Restart.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr()
}

// Port returns the port of Addr.
func (s *Server) Port() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.port
}

// Pid returns the server's process id, 0 while it is stopped.
func (s *Server) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return 0
	}
	return s.proc.pid()
}

// URL returns the redis:// form of Addr, with the password that --requirepass set.
func (s *Server) URL() string {
	u := url.URL{Scheme: "redis", Host: s.Addr()}
	if s.pass != "" {
		u.User = url.UserPassword("", s.pass)
	}
	return u.String()
}

// Dial connects to the server, and authenticates if --requirepass was given. Connecting
// and writing may take 5 s, reading 10 s. The connection is closed when t ends.
func (s *Server) Dial(t testing.TB) redis.Conn {
	t.Helper()
	conn, err := s.dial(s.Addr())
	if err != nil {
		t.Fatalf("redistest: dial: %v", err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// AwaitBlocked returns when a client's command is blocked: by CLIENT PAUSE, or because it
// waits for a list.
func (s *Server) AwaitBlocked(t testing.TB) {
	t.Helper()
	c := s.Dial(t)
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(pollEvery) {
		info, err := redis.String(c.Do("INFO", "clients"))
		if err != nil {
			t.Fatalf("redistest: %v", err)
		}
		if !strings.Contains(info, "blocked_clients:0\r\n") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("redistest: nobody's command is held back")
		}
	}
}

// Stop ends the server in an orderly way and returns when the process is gone.
// A stopped server is left alone.
func (s *Server) Stop() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(syscall.SIGTERM)
}

// Kill ends the server as a crash would and returns when the process is gone.
// A stopped server is left alone.
func (s *Server) Kill() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(syscall.SIGKILL)
}

// Restart stops the server if it runs, and starts it on the same port with the
// same arguments. Without persistence its keys and scripts are gone.
func (s *Server) Restart() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(syscall.SIGTERM)
	var err error
	for range startTries {
		if err = s.start(); err == nil {
			return
		}
	}
	s.t.Fatalf("redistest: restart: %v", err)
}

// Pause freezes the server: connections stay open, but it accepts and answers nothing.
// It returns once the process is stopped.
func (s *Server) Pause() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		s.t.Fatal("redistest: Pause of a stopped server")
	}
	if err := s.proc.pause(); err != nil {
		s.t.Fatalf("redistest: pause: %v", err)
	}
}

// Resume undoes Pause; the server then runs what was sent meanwhile. It does nothing to a
// running or stopped server.
func (s *Server) Resume() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return
	}
	if err := s.proc.resume(); err != nil {
		s.t.Fatalf("redistest: resume: %v", err)
	}
}

// LastLog returns the last lines of the server's log.
func (s *Server) LastLog(lines int) string { return lastLines(s.log(), lines) }

func (s *Server) log() string { return filepath.Join(s.dir, "redis.log") }

func (s *Server) addr() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
}

// start runs the binary on s.port and waits for its own answer. The caller
// holds mu.
func (s *Server) start() error {
	args := append([]string{
		"--bind", "127.0.0.1", "--port", strconv.Itoa(s.port), "--dir", s.dir,
		"--save", "", "--appendonly", "no", "--daemonize", "no", "--shutdown-timeout", "0",
	}, s.args...)
	if s.conf != "" {
		// A Sentinel has no data, and refuses the settings for it.
		args = append([]string{s.conf, "--bind", "127.0.0.1", "--port", strconv.Itoa(s.port), "--dir", s.dir}, s.args...)
	}
	p, err := launch(s.bin, args, s.log())
	if err != nil {
		return err
	}
	if err := s.awaitAnswer(p); err != nil {
		p.end(syscall.SIGKILL)
		return fmt.Errorf("port %d: %w", s.port, err)
	}
	s.proc = p
	return nil
}

func (s *Server) awaitAnswer(p *process) error {
	deadline := time.Now().Add(startTimeout)
	for {
		pid, err := s.askPid()
		if err == nil {
			if pid != p.pid() {
				return fmt.Errorf("another server, process %d, answers there", pid)
			}
			return nil
		}
		if p.ended() {
			return fmt.Errorf("redis-server ended: %s", p.lastLog())
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("no answer within %v: %w; %s", startTimeout, err, p.lastLog())
		}
		time.Sleep(pollEvery)
	}
}

// askPid asks the server that listens on the port for its process id.
func (s *Server) askPid() (int, error) {
	conn, err := s.dial(s.addr())
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := conn.Do("PING"); err != nil {
		return 0, err
	}
	info, err := redis.String(conn.Do("INFO", "server"))
	if err != nil {
		return 0, err
	}
	return infoInt(info, "process_id")
}

// end is Stop and Kill; the caller holds mu.
func (s *Server) end(sig syscall.Signal) {
	if s.proc != nil {
		s.proc.end(sig)
		s.proc = nil
	}
}

func (s *Server) dial(addr string) (redis.Conn, error) {
	opts := []redis.DialOption{
		redis.DialConnectTimeout(5 * time.Second),
		redis.DialReadTimeout(10 * time.Second),
		redis.DialWriteTimeout(5 * time.Second),
	}
	if s.pass != "" {
		opts = append(opts, redis.DialPassword(s.pass))
	}
	return redis.Dial("tcp", addr, opts...)
}
