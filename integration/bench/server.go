package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/deathsig"

	"github.com/rlock-go/redisson/integration/internal/commandstats"
)

// redisVersion is what the numbers are meant for; the program says so if it finds another.
const redisVersion = "7.0.15"

// server is a redis-server process of its own on 127.0.0.1, without persistence.
type server struct {
	addr string
	conn redis.Conn // for questions between measurements; used by one goroutine
	cmd  *exec.Cmd
	dir  string
	bus  int // the port for the rest of a cluster; 0: it is in none
}

// startServer starts one with these further arguments.
func startServer(args ...string) (*server, error) {
	dir, err := os.MkdirTemp("", "rlock-bench-")
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	binary := os.Getenv("RLOCK_REDIS_SERVER")
	if binary == "" {
		binary = "redis-server"
	}
	s := &server{addr: fmt.Sprint("127.0.0.1:", port), dir: dir}
	s.cmd = exec.Command(binary, append([]string{"--bind", "127.0.0.1", "--port", fmt.Sprint(port), "--dir", dir,
		"--save", "", "--appendonly", "no", "--maxclients", "20000",
		"--client-output-buffer-limit", "pubsub 0 0 0"}, args...)...)
	s.cmd.SysProcAttr = deathsig.Attr(syscall.SIGTERM)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("redis-server: %w", err)
	}
	err = eventually(func() (err error) {
		if s.conn, err = redis.Dial("tcp", s.addr); err == nil {
			_, err = s.conn.Do("PING")
		}
		return err
	})
	if err != nil {
		s.close()
		return nil, fmt.Errorf("redis-server at %s: %w", s.addr, err)
	}
	return s, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (s *server) close() {
	if s.conn != nil {
		s.conn.Close()
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if !within(grace, func() { _ = s.cmd.Wait() }) {
		_ = s.cmd.Process.Kill()
	}
	os.RemoveAll(s.dir)
}

// clear leaves no key of an earlier part behind.
func (s *server) clear() error {
	_, err := s.conn.Do("FLUSHALL", "SYNC")
	return err
}

// commands is how often each kind of command ran since the server started.
type commands map[string]int64

func (s *server) commands() (commands, error) { return commandstats.Read(s.conn) }

// scripts is how long EVALSHA ran, by the server's count.
func (s *server) scripts() (time.Duration, error) {
	text, err := redis.String(s.conn.Do("INFO", "commandstats"))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(text, "cmdstat_evalsha:")
	line, _, _ := strings.Cut(rest, "\r\n")
	_, rest, ok := strings.Cut(line, ",usec=")
	usec, _, _ := strings.Cut(rest, ",")
	if !ok {
		return 0, nil // there was none yet
	}
	n, err := strconv.ParseInt(usec, 10, 64)
	return time.Duration(n) * time.Microsecond, err
}

func (c commands) since(before commands) commands {
	d := commands{}
	for kind, n := range c {
		d[kind] = n - before[kind]
	}
	return d
}

// total is all of them, but for the questions that this program asks.
func (c commands) total() (n int64) {
	for kind, calls := range c {
		if kind != "info" && kind != "ping" {
			n += calls
		}
	}
	return n
}

// info is a number of INFO.
func (s *server) info(section, field string) (float64, error) {
	text, err := redis.String(s.conn.Do("INFO", section))
	if err != nil {
		return 0, err
	}
	for line := range strings.SplitSeq(text, "\r\n") {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			var f float64
			_, err := fmt.Sscan(value, &f)
			return f, err
		}
	}
	return 0, errors.New("INFO " + section + " has no " + field)
}

// cpu is the processor time that the server has used.
func (s *server) cpu() (time.Duration, error) {
	user, err := s.info("cpu", "used_cpu_user")
	if err != nil {
		return 0, err
	}
	system, err := s.info("cpu", "used_cpu_sys")
	return time.Duration((user + system) * float64(time.Second)), err
}

// roundTrip is the median time of a PING.
func (s *server) roundTrip() (time.Duration, error) {
	times := make([]float64, 200)
	for i := range times {
		start := time.Now()
		if _, err := s.conn.Do("PING"); err != nil {
			return 0, err
		}
		times[i] = float64(time.Since(start))
	}
	return time.Duration(median(times)), nil
}
