// Package testbed is shared by tests of the library against a real server. A [Rig] asks the server on its own
// connection, waits for states, and takes and releases locks that must be free or held. [Proxied] adds a fault proxy.
//
// A test package embeds [Rig] or [Proxied] in its own rig, which knows its server, and adds what only that package
// needs.
package testbed

import (
	"context"
	"errors"
	"flag"
	"net"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// Patience bounds waits for what happens at once if all is well.
const Patience = 20 * time.Second

// Rig is a test with its own connection to a server. A method that can't do its work ends the test.
type Rig struct {
	*testing.T
	Server redisserver.Server // may have other users
	Conn   redis.Conn         // to Server, with all rights; closed after the test's other cleanups

	// Dial connects clients in a simulated network; nil: in the system's.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// New connects to a server.
func New(t *testing.T, s redisserver.Server) *Rig {
	t.Helper()
	r := &Rig{T: t, Server: s, Conn: Dial(t, s)}
	t.Cleanup(func() { r.Conn.Close() })
	return r
}

// Dial connects to a server with all rights. The caller closes the connection.
func Dial(t testing.TB, s redisserver.Server) redis.Conn {
	t.Helper()
	conn, err := redisserver.Connect(s.URL(), redis.DialConnectTimeout(Patience), redis.DialReadTimeout(Patience), redis.DialWriteTimeout(Patience))
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// Redial replaces the rig's connection, for after a restart.
func (r *Rig) Redial() {
	r.Helper()
	r.Conn.Close()
	if r.Dial != nil {
		r.Conn = r.Connect(r.Server.Addr())
		return
	}
	r.Conn = Dial(r.T, r.Server)
}

// Must ends the test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Open makes a client once its servers answer within its command timeout. The client ends with the test.
func Open(t testing.TB, url string, opts ...rlock.Option) (c *rlock.Client) {
	t.Helper()
	Becomes(t, "the servers answer", func() bool {
		var err error
		if c, err = rlock.Open(t.Context(), url, opts...); !errors.Is(err, rlock.ErrUnavailable) {
			Must(t, err)
		}
		return err == nil
	})
	t.Cleanup(func() { c.Close() })
	return c
}

// Open makes a client that ends with the test.
func (r *Rig) Open(url string, opts ...rlock.Option) *rlock.Client {
	r.Helper()
	if r.Dial != nil {
		opts = append([]rlock.Option{rlock.WithDialer(r.Dial)}, opts...)
	}
	return Open(r.T, url, opts...)
}

// Lock takes a lock that must be free, without waiting.
func (r *Rig) Lock(l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
	r.Helper()
	h, err := l.TryLock(r.Context(), opts...)
	if err != nil {
		r.Fatal(err)
	}
	return h
}

// Hold takes a lock that must be free, by a call that would wait.
func (r *Rig) Hold(l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
	r.Helper()
	h, err := l.Lock(r.Context(), opts...)
	if err != nil {
		r.Fatal(err)
	}
	return h
}

// Unlock releases a lock that must be held.
func (r *Rig) Unlock(h *rlock.Hold) {
	r.Helper()
	if err := h.Unlock(r.Context()); err != nil {
		r.Fatal(err)
	}
}

// Lock waits for a lock, for a minute at most.
func Lock(t testing.TB, l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	h, err := l.Lock(ctx, opts...)
	Must(t, err)
	return h
}

// Unlock releases a lock that must be held.
func Unlock(t testing.TB, h *rlock.Hold) {
	t.Helper()
	if err := h.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}

// Main runs a package's tests, and fails if a goroutine is left. Most of these tests wait, so more of them than there
// are cores can run at once: parallel is how many, unless the command line sets it. The last functions are called after
// the tests.
func Main(m *testing.M, parallel string, last ...func()) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", parallel); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(ending{m, last})
}

// ending runs functions after the tests.
type ending struct {
	*testing.M
	last []func()
}

func (e ending) Run() int {
	for _, f := range e.last {
		defer f()
	}
	return e.M.Run()
}
