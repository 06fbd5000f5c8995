package locks

import (
	"context"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/testkit/leakcheck"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/topology"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// soon is enough for anything under way, even if the machine stalls meanwhile.
const soon = 3 * time.Second

// config is a configuration whose pool gives no connection.
func config() Config {
	return Config{
		Watchdog: 30 * time.Second, Timeout: 2 * time.Second, Courtesy: true, Clock: clock.System(),
		Topology: dials(func(context.Context) (redis.Conn, error) { return nil, context.DeadlineExceeded }).topology,
		NewState: func() (*OwnerState, *Hold) { return new(OwnerState), new(Hold) },
		NewHold:  func() *Hold { return new(Hold) },
	}
}

// dials is a pool whose connections are dialled by a function.
type dials func(context.Context) (redis.Conn, error)

// GetContext dials.
func (d dials) GetContext(ctx context.Context) (redis.Conn, error) { return d(ctx) }

func (d dials) topology(s topology.Settings) (topology.Topology, error) {
	return topology.Borrowed(d, s), nil
}

// open makes a client's state for a server, and closes it with the test.
func open(t testing.TB, s *redistest.Server) *Client {
	t.Helper()
	return openWith(t, s, config())
}

// openWith is open with another configuration.
func openWith(t testing.TB, s *redistest.Server, o Config) *Client {
	t.Helper()
	o.Topology = dials(func(ctx context.Context) (redis.Conn, error) {
		return redis.DialURLContext(ctx, s.URL(), redis.DialReadTimeout(o.Timeout), redis.DialWriteTimeout(o.Timeout))
	}).topology
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// mustAcquire acquires the lock.
func mustAcquire(t testing.TB, l *Lock) *Hold {
	t.Helper()
	w := NewWaiter(l)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	h, err := w.Result(t.Context(), w.Await(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return h
}
