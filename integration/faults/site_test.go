package faults

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// site is a server with its auditor.
type site struct {
	row     *row
	server  *redisserver.LocalServer // the master
	replica *redisserver.LocalServer // of a row that moves: it has what the master has
	auditor *auditor
	grants  int // how often an acquire was granted; guarded by row.mu, as the next
	expired int // how many of those were left to expire
}

func newSite(t *testing.T, w *row) *site {
	s := &site{row: w}
	if w.user != nil {
		s.server = redisserver.ACL(t, *w.user)
	} else {
		s.server = redisserver.Local(t, w.args...)
	}
	if w.moves {
		s.replica = redisserver.Replica(t, s.server)
		for _, server := range []*redisserver.LocalServer{s.server, s.replica} {
			c := dial(t, server)
			do(t, c, "CLIENT", "KILL", "TYPE", "normal") // who saw to the replication
			c.Close()
		}
	}
	c := s.dial(t)
	defer c.Close()
	// The NOSCRIPT of each first use is no fault.
	for _, script := range luasrc.Scripts() {
		do(t, c, "SCRIPT", "LOAD", script.Source)
	}
	do(t, c, "CONFIG", "RESETSTAT")
	s.auditor = audit(w, s.server.URL())
	t.Cleanup(func() {
		if s.auditor != nil {
			s.auditor.end()
		}
	})
	return s
}

// dial connects to the master, around all proxies.
func (s *site) dial(t *testing.T) redis.Conn {
	t.Helper()
	return dial(t, s.server)
}

func dial(t *testing.T, server *redisserver.LocalServer) redis.Conn {
	t.Helper()
	c, err := redis.DialURL(server.URL(), redis.DialConnectTimeout(soon), redis.DialReadTimeout(soon), redis.DialWriteTimeout(soon))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func do(t *testing.T, c redis.Conn, cmd string, args ...any) any {
	t.Helper()
	v, err := c.Do(cmd, args...)
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	return v
}

// becomes waits for a state, and reports whether it came.
func becomes(within time.Duration, state func() bool) bool {
	for end := time.Now().Add(within); !state(); {
		if time.Now().After(end) {
			return false
		}
		<-time.After(time.Millisecond)
	}
	return true
}

// finish looks for what the clients, all closed by now, left on the server.
func (s *site) finish(t *testing.T) {
	t.Helper()
	s.auditor.end()
	s.auditor = nil
	if t.Failed() {
		return
	}
	c := s.dial(t)
	defer c.Close()
	list := func(cmd string, args ...any) []string { v, _ := redis.Strings(do(t, c, cmd, args...), nil); return v }
	if !becomes(soon, func() bool { return len(clients(t, c)) == 0 }) {
		s.row.violates("connections are left:\n%s", strings.Join(clients(t, c), "\n"))
	}
	if !becomes(soon, func() bool { return len(list("PUBSUB", "CHANNELS")) == 0 }) {
		s.row.violates("channels are left: %v", list("PUBSUB", "CHANNELS"))
	}
	// Whatever was counted up was counted down again, once, unless it was left to expire.
	if changes := s.hincrbys(t); !s.row.inexact && !s.row.loses && changes != 2*s.grants-s.expired {
		s.row.violates("%d grants, of which %d expired, but counts were changed %d times, not twice for each that was released",
			s.grants, s.expired, changes)
	}
	within := time.Duration(0)
	if s.row.latches {
		within = latchLife + time.Second
	}
	if !becomes(within, func() bool { return len(list("KEYS", "*")) == 0 }) {
		s.row.violates("keys are left: %v", list("KEYS", "*"))
	}
}

// clients are a server's connections but c, and but those of replication.
func clients(t *testing.T, c redis.Conn) (lines []string) {
	t.Helper()
	own := fmt.Sprintf("id=%d ", do(t, c, "CLIENT", "ID"))
	for _, kind := range []string{"normal", "pubsub"} {
		list, _ := redis.String(do(t, c, "CLIENT", "LIST", "TYPE", kind), nil)
		for line := range strings.Lines(list) {
			if !strings.HasPrefix(line, own) {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}
	return lines
}

// latchLife is how long the server remembers an unlock at this command timeout.
const latchLife = 5*timeout + time.Second

// hincrbys is how often a count was changed, up or down, as the server counted.
func (s *site) hincrbys(t *testing.T) int {
	c := s.dial(t)
	defer c.Close()
	stats, _ := redis.String(do(t, c, "INFO", "commandstats"), nil)
	_, rest, found := strings.Cut(stats, "cmdstat_hincrby:calls=")
	if !found {
		return 0
	}
	n := 0
	for _, r := range rest {
		if r < '0' || r > '9' {
			break
		}
		n = n*10 + int(r-'0')
	}
	return n
}
