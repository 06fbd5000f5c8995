package faults

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/commandstats"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

type site struct {
	row     *row
	server  *redisserver.LocalServer // the master
	replica *redisserver.LocalServer // of the master, in a row that moves or behind a Sentinel
	watcher *redistest.Server        // the Sentinel, if there is one
	auditor *auditor
	grants  int // number of granted acquires; guarded by row.mu, as expired is
	expired int // how many of those were left to expire

	unseen atomic.Bool // nobody saw the reply to some acquire, so it is not known what ran
}

func newSite(t *testing.T, w *row) *site {
	s := &site{row: w}
	if w.user != nil {
		s.server = redisserver.ACL(t, *w.user)
	} else {
		s.server = redisserver.Local(t, slices.Concat(w.args, serverArgs(w.topology))...)
	}
	s.form(t)
	if w.moves {
		s.replica = redisserver.Replica(t, s.server)
		for _, server := range []*redisserver.LocalServer{s.server, s.replica} {
			c := testbed.Dial(t, server)
			testbed.Do(t, c, "CLIENT", "KILL", "TYPE", "normal") // the connections that set up the replication
			c.Close()
		}
	}
	c := s.dial(t)
	defer c.Close()
	// A NOSCRIPT at a script's first use would be no fault of the row.
	testbed.LoadScripts(t, c)
	testbed.Do(t, c, "CONFIG", "RESETSTAT")
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
	return testbed.Dial(t, s.server)
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
	list := func(cmd string, args ...any) []string {
		v, _ := redis.Strings(testbed.Do(t, c, cmd, args...), nil)
		return v
	}
	clients := func() []string { return without(testbed.Clients(t, c), " name=sentinel-") }
	if !testbed.Within(soon, func() bool { return len(clients()) == 0 }) {
		s.row.violates("connections are left:\n%s", strings.Join(clients(), "\n"))
	}
	channels := func() []string {
		all := list("PUBSUB", "CHANNELS")
		if s.row.topology == cluster {
			all = append(all, list("PUBSUB", "SHARDCHANNELS")...)
		}
		return without(all, "__sentinel__")
	}
	if !testbed.Within(soon, func() bool { return len(channels()) == 0 }) {
		s.row.violates("channels are left: %v", channels())
	}
	// Each count up was followed by one count down, unless the hold was left to expire.
	if changes := s.changes(t); !s.row.inexact && !s.unseen.Load() && !s.row.loses && changes != 2*s.grants-s.expired {
		s.row.violates("%d grants, of which %d expired, but counts were changed %d times, not twice for each that was released",
			s.grants, s.expired, changes)
	}
	left := list("KEYS", "*")
	if s.row.kind.Tokens {
		left = without(left, "redisson_lock_token:")
	}
	if s.row.latches {
		left = without(left, "redisson_unlock_latch:")
	}
	if len(left) > 0 {
		s.row.violates("keys are left: %v", left)
	}
}

// changes returns how often the server changed a count, up or down. A fair lock sets its first count by HSET.
func (s *site) changes(t *testing.T) int {
	c := s.dial(t)
	defer c.Close()
	calls, err := commandstats.Read(c)
	testbed.Must(t, err)
	if s.row.kind.Fair {
		return int(calls["hincrby"] + calls["hset"])
	}
	return int(calls["hincrby"])
}
