package timing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/rlock"
)

func TestMain(m *testing.M) { testbed.Main(m, "2") }

const (
	soon      = 3 * time.Second       // much shorter than leases
	latencies = 50 * time.Millisecond // what the simulated network may add to a bound
)

// server is a test's own, a model.
type server struct {
	*testbed.SimulatedServer
	rig  *testbed.Proxied
	last *testbed.SimulatedServer // the replica that was added last
}

// play runs a test in virtual time.
func play(t *testing.T, test func(t *testing.T, s *server)) {
	t.Helper()
	t.Parallel()
	testbed.Simulate(t, func(p *testbed.Proxied, s *testbed.SimulatedServer) {
		p.LoadScripts()
		test(p.T, &server{SimulatedServer: s, rig: p})
	})
}

// Dial connects to the server. The connection is closed when the test ends.
func (s *server) Dial(t *testing.T) redis.Conn {
	t.Helper()
	conn := s.rig.Connect(s.Addr())
	t.Cleanup(func() { conn.Close() })
	return conn
}

// open makes a client that is closed when the test ends.
func open(t *testing.T, s *server, opts ...rlock.Option) *rlock.Client {
	t.Helper()
	return s.rig.Open(s.URL(), opts...)
}

// replicas adds replicas, of which slow makes one late. Each WAIT takes nearly its full second then.
func (s *server) replicas(n int) {
	for range n {
		s.last = s.Replica()
	}
}

// slow makes the last replica late.
func (s *server) slow() { s.last.Lag(900 * time.Millisecond) }

// openSynced opens a client that waits for replicas, and runs the scripts once so that the server knows them.
func (s *server) openSynced(t *testing.T, opts ...rlock.Option) *rlock.Client {
	t.Helper()
	c, err := rlock.Open(t.Context(), s.URL(), append(opts, rlock.WithReplicaSync(true))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	h := lock(t, c, "first of all", rlock.Lease(time.Hour))
	if err := errors.Join(h.Extend(t.Context(), time.Hour), h.Unlock(t.Context())); err != nil {
		t.Fatal(err)
	}
	return c
}

// lock takes a lock that nobody has.
func lock(t *testing.T, c *rlock.Client, name string, opts ...rlock.AcquireOption) *rlock.Hold {
	t.Helper()
	h, err := c.NewLock(name).TryLock(t.Context(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// tap has the commands that the server ran.
type tap struct {
	mu    sync.Mutex // guards lines
	lines []monitor.Line
}

// tap records what the server runs from now on.
func (s *server) tap() *tap {
	all := &tap{}
	s.Ran(func(args []string) {
		all.mu.Lock()
		defer all.mu.Unlock()
		all.lines = append(all.lines, monitor.Line{At: time.Now(), Args: slices.Clone(args)})
	})
	return all
}

// Mark returns what has run since the last call.
func (a *tap) Mark() []monitor.Line {
	a.mu.Lock()
	defer a.mu.Unlock()
	lines := a.lines
	a.lines = nil
	return lines
}

func becomes(t *testing.T, what string, state func() bool) {
	t.Helper()
	testbed.Becomes(t, what, state)
}

// awaitQueued waits until n callers of the client wait.
func awaitQueued(t *testing.T, c *rlock.Client, n int) {
	t.Helper()
	becomes(t, fmt.Sprint(n, " wait"), func() bool { return c.Stats().Waiters == n })
}

// lockOf acquires l. It may be called on any goroutine.
func lockOf(t *testing.T, l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
	t.Helper()
	h, err := l.Lock(t.Context(), opts...)
	if err != nil {
		t.Error(err)
	}
	return h
}

func mustUnlock(t *testing.T, h *rlock.Hold) {
	t.Helper()
	if err := h.Unlock(context.Background()); err != nil {
		t.Error(err)
	}
}

// counts checks how many holds an owner has.
func counts(t *testing.T, l *rlock.Lock, o rlock.Owner, n int) {
	t.Helper()
	if got, err := l.HoldCount(t.Context(), o); got != n || err != nil {
		t.Errorf("%s has %d holds, %v, want %d", o, got, err, n)
	}
}
