package lockstate

import (
	"context"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/acquire"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/state"
	"github.com/rlock-go/redisson/internal/testkit/leakcheck"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/topology"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// soon is enough for anything under way, even if the machine stalls meanwhile.
const soon = 3 * time.Second

// config is a configuration whose pool gives no connection.
func config() state.Config {
	return state.Config{
		Config: core.Config{
			Watchdog: 30 * time.Second, Timeout: 2 * time.Second, Courtesy: true, Clock: clock.System(),
			Topology: dials(func(context.Context) (redis.Conn, error) { return nil, context.DeadlineExceeded }).topology,
		},
		NewOwner: func() (*state.OwnerState, *state.Hold) { return new(state.OwnerState), new(state.Hold) },
		NewHold:  func() *state.Hold { return new(state.Hold) },
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
func open(t testing.TB, s *redistest.Server) *State {
	t.Helper()
	return openWith(t, s, config())
}

// openWith is open with another configuration.
func openWith(t testing.TB, s *redistest.Server, o state.Config) *State {
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
func mustAcquire(t testing.TB, l *state.Lock) *state.Hold {
	t.Helper()
	w := acquire.New(l)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	h, err := w.Result(t.Context(), w.Await(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return h
}
