package pubsub

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/leakcheck"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestMain(m *testing.M) { leakcheck.Main(redistest.WithExamples{M: m}) }

// await polls until ok, and fails the test when that takes too long.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// patience bounds waits for what happens at once if all is well.
const patience = 20 * time.Second

// returns runs f and fails the test if f does not return. Whatever f must not wait for has to take longer than patience.
func returns(t testing.TB, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s hangs", what)
	}
}

// ownConn is a connection that was dialled for the hub alone.
type ownConn struct {
	redis.Conn
	socket net.Conn
}

func (c *ownConn) Interrupt() { c.socket.Close() }

func (c *ownConn) ReceiveWithTimeout(d time.Duration) (any, error) {
	return redis.ReceiveWithTimeout(c.Conn, d)
}

func (c *ownConn) DoWithTimeout(d time.Duration, cmd string, args ...any) (any, error) {
	return redis.DoWithTimeout(c.Conn, d, cmd, args...)
}

// own dials connections that can be interrupted.
func own(addr string, opts ...redis.DialOption) DialFunc {
	return func(ctx context.Context) (redis.Conn, error) {
		var socket net.Conn
		opts := append(slices.Clone(opts), redis.DialContextFunc(
			func(ctx context.Context, network, addr string) (c net.Conn, err error) {
				socket, err = new(net.Dialer).DialContext(ctx, network, addr)
				return socket, err
			}))
		c, err := redis.DialContext(ctx, "tcp", addr, opts...)
		if err != nil {
			return nil, err
		}
		return &ownConn{Conn: c, socket: socket}, nil
	}
}

// gated makes dial wait until gate is closed. So a test decides what is wanted when the connection begins.
func gated(gate <-chan struct{}, dial DialFunc) DialFunc {
	return func(ctx context.Context) (redis.Conn, error) {
		select {
		case <-gate:
			return dial(ctx)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func newHub(t testing.TB, dial DialFunc, o Options) *Hub {
	t.Helper()
	h := New(dial, o)
	t.Cleanup(func() { h.Close() })
	return h
}

// recorder is a Waker that records its calls.
type recorder struct {
	mu     sync.Mutex
	events []string
	err    error
}

func (r *recorder) add(e string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *recorder) Confirmed()       { r.add("confirmed") }
func (r *recorder) Message(p []byte) { r.add("message " + string(p)) }
func (r *recorder) Refused(err error) {
	r.add("refused")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

func (r *recorder) refusal() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// count returns how many events begin with prefix.
func (r *recorder) count(prefix string) (n int) {
	for _, e := range r.all() {
		if strings.HasPrefix(e, prefix) {
			n++
		}
	}
	return n
}

func (r *recorder) await(t testing.TB, prefix string, n int) {
	t.Helper()
	await(t, fmt.Sprintf("%d × %s", n, prefix), func() bool { return r.count(prefix) >= n })
}

func do(t testing.TB, c redis.Conn, cmd string, args ...any) any {
	t.Helper()
	v, err := c.Do(cmd, args...)
	if err != nil {
		t.Fatalf("%s %v: %v", cmd, args, err)
	}
	return v
}

// subscribed returns the server's channels, by PUBSUB CHANNELS.
func subscribed(t testing.TB, c redis.Conn) []string {
	t.Helper()
	got, err := redis.Strings(do(t, c, "PUBSUB", "CHANNELS"), nil)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	return got
}

func numsub(t testing.TB, c redis.Conn, channel string) int64 {
	t.Helper()
	v, err := redis.Values(do(t, c, "PUBSUB", "NUMSUB", channel), nil)
	if err != nil || len(v) != 2 {
		t.Fatal(v, err)
	}
	return v[1].(int64)
}

// subscribers returns the server's clients that subscribe, by CLIENT LIST.
func subscribers(t testing.TB, c redis.Conn) (lines []string) {
	t.Helper()
	text, err := redis.String(do(t, c, "CLIENT", "LIST", "TYPE", "pubsub"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// both runs a test with dialled connections, and with connections borrowed from a pool.
func both(t *testing.T, test func(t *testing.T, srv *redistest.Server, dial DialFunc)) {
	t.Run("own", func(t *testing.T) {
		srv := redistest.Start(t)
		test(t, srv, own(srv.Addr()))
	})
	t.Run("borrowed", func(t *testing.T) {
		srv := redistest.Start(t)
		pool := poolOf(t, srv)
		test(t, srv, pool.GetContext)
	})
}

func poolOf(t testing.TB, srv *redistest.Server) *redis.Pool {
	pool := &redis.Pool{
		MaxIdle: 4,
		DialContext: func(ctx context.Context) (redis.Conn, error) {
			return redis.DialContext(ctx, "tcp", srv.Addr(),
				redis.DialReadTimeout(time.Minute), redis.DialWriteTimeout(time.Minute))
		},
	}
	t.Cleanup(func() { pool.Close() })
	return pool
}

// connected reports whether the hub has a connection.
func connected(h *Hub) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.conn != nil
}
