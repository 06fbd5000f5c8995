// Package testbed is what tests of the library against a real server have in common: a rig with a connection of its own,
// which asks the server, waits for states, and takes and releases locks that must be free or held, and a proxy before the
// server for those that need faults.
//
// A test package embeds [Rig] or [Proxied] in a rig that knows its server, and adds what it alone needs.
package testbed

import (
	"flag"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// Patience is for what comes at once if all is well.
const Patience = 20 * time.Second

// Rig is a test with a connection of its own to a server. What its methods can't do ends the test.
type Rig struct {
	*testing.T
	Server redisserver.Server // not the rig's own: it may have other users
	Conn   redis.Conn         // to Server, with all rights; it outlives what the test cleans up
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
	r.Conn = Dial(r.T, r.Server)
}

// Open makes a client that ends with the test.
func Open(t testing.TB, url string, opts ...rlock.Option) *rlock.Client {
	t.Helper()
	c, err := rlock.Open(t.Context(), url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Open makes a client that ends with the test.
func (r *Rig) Open(url string, opts ...rlock.Option) *rlock.Client {
	r.Helper()
	return Open(r.T, url, opts...)
}

// Lock acquires what must be free.
func (r *Rig) Lock(l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
	r.Helper()
	h, err := l.TryLock(r.Context(), opts...)
	if err != nil {
		r.Fatal(err)
	}
	return h
}

// Hold acquires what must be free as a caller does who would wait.
func (r *Rig) Hold(l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
	r.Helper()
	h, err := l.Lock(r.Context(), opts...)
	if err != nil {
		r.Fatal(err)
	}
	return h
}

// Unlock releases what must be held.
func (r *Rig) Unlock(h *rlock.Hold) {
	r.Helper()
	if err := h.Unlock(r.Context()); err != nil {
		r.Fatal(err)
	}
}

// Main runs a package's tests, and fails if a goroutine is left.
//
// Most of such tests wait, so that more of them than there are cores may wait
// together: parallel is how many, unless the command line says. What comes last is called behind them.
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

// ending is tests that have something to end behind them.
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
