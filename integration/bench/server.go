package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/commandstats"
	"github.com/rlock-go/redisson/integration/kit/quantile"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// redisVersion is the version that the numbers are meant for; the program reports any other.
const redisVersion = "7.0.15"

// server is a redis-server on 127.0.0.1, without persistence.
type server struct {
	addr string
	conn redis.Conn // for commands between measurements; used by one goroutine
}

// startServer starts a server that ends with t.
func startServer(t testing.TB) *server {
	return asked(t, redistest.Start(t, "--maxclients", "20000", "--client-output-buffer-limit", "pubsub 0 0 0"))
}

// asked returns a server that is already running.
func asked(t testing.TB, s *redistest.Server) *server { return &server{s.Addr(), s.Dial(t)} }

// clear removes the keys of earlier parts.
func (s *server) clear() error {
	_, err := s.conn.Do("FLUSHALL", "SYNC")
	return err
}

type commands = commandstats.Calls

func (s *server) commands() (commands, error) { return commandstats.Read(s.conn) }

var usec = regexp.MustCompile(`cmdstat_evalsha:calls=\d+,usec=(\d+)`)

// scripts returns how long EVALSHA has run, by the server's count.
func (s *server) scripts() (_ time.Duration, err error) {
	defer caught(&err)
	m := usec.FindStringSubmatch(must(redis.String(s.conn.Do("INFO", "commandstats"))))
	if m == nil {
		return 0, nil // no script has run yet
	}
	return time.Duration(must(strconv.ParseInt(m[1], 10, 64))) * time.Microsecond, nil
}

// sent counts all commands except this program's own INFO and PING.
func sent(c commands) (n int64) {
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
func (s *server) cpu() (_ time.Duration, err error) {
	defer caught(&err)
	user, system := must(s.info("cpu", "used_cpu_user")), must(s.info("cpu", "used_cpu_sys"))
	return time.Duration((user + system) * float64(time.Second)), nil
}

// roundTrip is the median time of a PING.
func (s *server) roundTrip() (_ time.Duration, err error) {
	defer caught(&err)
	times := make([]float64, 200)
	for i := range times {
		start := time.Now()
		must(s.conn.Do("PING"))
		times[i] = float64(time.Since(start))
	}
	return time.Duration(quantile.Median(times)), nil
}
