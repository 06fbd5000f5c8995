package known

import (
	"context"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// Most tests wait, so more of them than there are cores may wait together. What the command line says wins.
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

const (
	timeout   = 500 * time.Millisecond // of one command
	watchdog  = 1500 * time.Millisecond
	long      = time.Minute      // leases that must not be waited for
	patience  = 20 * time.Second // for what comes at once if all is well
	pollEvery = 5 * time.Millisecond
	name      = "orders"
)

// rig is a server, a proxy before it for the client under test, and a connection that goes around the proxy.
type rig struct {
	*testing.T
	server *redisserver.LocalServer
	proxy  *faultproxy.Proxy
	conn   redis.Conn
	c      *rlock.Client
}

func newRig(t *testing.T, opts ...rlock.Option) *rig {
	t.Helper()
	t.Parallel()
	r := &rig{T: t, server: redisserver.Local(t)}
	r.conn = redisserver.Dial(t, r.server)
	for _, s := range luasrc.Scripts() {
		r.do("SCRIPT", "LOAD", s.Source)
	}
	r.proxy = faultproxy.Start(t, r.server.Addr())
	r.c = r.open("redis://"+r.proxy.Addr(), opts...)
	return r
}

func (r *rig) open(url string, opts ...rlock.Option) *rlock.Client {
	r.Helper()
	opts = append([]rlock.Option{rlock.WithCommandTimeout(timeout), rlock.WithWatchdogTimeout(watchdog)}, opts...)
	return r.openAs(url, opts...)
}

// openAs has no options of its own.
func (r *rig) openAs(url string, opts ...rlock.Option) *rlock.Client {
	r.Helper()
	c, err := rlock.Open(r.Context(), url, opts...)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { c.Close() })
	return c
}

// other is another process's client, which the proxy does not touch.
func (r *rig) other() *rlock.Client {
	r.Helper()
	return r.open(r.server.URL())
}

func (r *rig) do(command string, args ...any) any {
	r.Helper()
	reply, err := r.conn.Do(command, args...)
	if err != nil {
		r.Fatalf("%s %v: %v", command, args, err)
	}
	return reply
}

func (r *rig) number(command string, args ...any) int {
	r.Helper()
	n, err := redis.Int(r.do(command, args...), nil)
	if err != nil && err != redis.ErrNil {
		r.Fatalf("%s %v: %v", command, args, err)
	}
	return n
}

func (r *rig) pttl(key string) time.Duration {
	r.Helper()
	return time.Duration(r.number("PTTL", key)) * time.Millisecond
}

func (r *rig) free(key string) bool { return r.number("EXISTS", key) == 0 }

func (r *rig) becomes(what string, state func() bool) {
	r.Helper()
	for end := time.Now().Add(patience); !state(); {
		if time.Now().After(end) {
			r.Fatalf("never: %s", what)
		}
		<-time.After(pollEvery)
	}
}

// stays checks that a state holds for a while.
func (r *rig) stays(what string, d time.Duration, state func() bool) {
	r.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		if !state() {
			r.Fatalf("not any more: %s", what)
		}
		<-time.After(pollEvery)
	}
}

func (r *rig) lock(l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
	r.Helper()
	h, err := l.TryLock(r.Context(), opts...)
	if err != nil {
		r.Fatal(err)
	}
	return h
}

func (r *rig) unlock(h *rlock.Hold) {
	r.Helper()
	if err := h.Unlock(r.Context()); err != nil {
		r.Fatal(err)
	}
}

type entry struct {
	hold *rlock.Hold
	err  error
}

func enter(ctx context.Context, l *rlock.Lock, opts ...rlock.AcquireOption) <-chan entry {
	ended := make(chan entry, 1)
	go func() {
		h, err := l.Lock(ctx, opts...)
		ended <- entry{h, err}
	}()
	return ended
}

func receive[T any](r *rig, what string, ch <-chan T) T {
	r.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		r.Fatalf("never: %s", what)
		panic("unreachable")
	}
}

func (r *rig) entered(waiter <-chan entry) *rlock.Hold {
	r.Helper()
	e := receive(r, "the waiter's entry", waiter)
	if e.err != nil {
		r.Fatal(e.err)
	}
	return e.hold
}

// listeners waits until so many clients are subscribed for a lock.
func (r *rig) listeners(key string, n int) {
	r.Helper()
	r.becomes("the channel's subscribers", func() bool {
		reply, err := redis.Values(r.do("PUBSUB", "NUMSUB", "redisson_lock__channel:{"+key+"}"), nil)
		return err == nil && len(reply) == 2 && reply[1] == int64(n)
	})
}

func script(s *luasrc.Script) faultproxy.Match { return faultproxy.Script(s.SHA1) }

// ran counts how often the server ran a script for the client under test.
func (r *rig) ran(s *luasrc.Script) (n int) {
	for _, e := range r.proxy.Record() {
		if script(s)(e.Cmd) && !e.Answered.IsZero() {
			n++
		}
	}
	return n
}

// hit waits until a fault was applied.
func (r *rig) hit(h *faultproxy.Handle) {
	r.Helper()
	receive(r, "the fault", h.Hit())
}

// subscriptions lists what is subscribed at the server.
func (r *rig) subscriptions() []string {
	r.Helper()
	list, err := redis.Strings(r.do("PUBSUB", "CHANNELS"), nil)
	if err != nil {
		r.Fatal(err)
	}
	return list
}

// clients counts the server's connections but for this test's own.
func (r *rig) clients() int {
	r.Helper()
	list, err := redis.String(r.do("CLIENT", "LIST", "TYPE", "normal"), nil)
	pubsub, err2 := redis.String(r.do("CLIENT", "LIST", "TYPE", "pubsub"), nil)
	if err != nil || err2 != nil {
		r.Fatal(err, err2)
	}
	return strings.Count(list+pubsub, "\n") - 1
}
