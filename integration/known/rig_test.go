package known

import (
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

func TestMain(m *testing.M) { testbed.Main(m, "32") }

// The machine may stand still for a second in the middle of a test, with an answer or a renewal under way.
const (
	timeout   = 2 * time.Second // of one command
	watchdog  = 6 * time.Second
	beyond    = watchdog + watchdog/10 // a lease that nobody renews is over
	long      = time.Minute            // leases that must not be waited for
	patience  = testbed.Patience
	pollEvery = 5 * time.Millisecond
	name      = "orders"
)

// rig is a server, a proxy before it for the client under test, and a connection that goes around the proxy.
type rig struct {
	*testbed.Rig
	server *redisserver.LocalServer
	proxy  *faultproxy.Proxy
	c      *rlock.Client
}

func newRig(t *testing.T, opts ...rlock.Option) *rig {
	t.Helper()
	t.Parallel()
	s := redisserver.Local(t)
	r := &rig{Rig: testbed.New(t, s), server: s}
	r.LoadScripts()
	r.proxy = faultproxy.Start(t, r.server.Addr())
	r.c = r.open("redis://"+r.proxy.Addr(), opts...)
	return r
}

func (r *rig) open(url string, opts ...rlock.Option) *rlock.Client {
	r.Helper()
	opts = append([]rlock.Option{rlock.WithCommandTimeout(timeout), rlock.WithWatchdogTimeout(watchdog)}, opts...)
	return r.Open(url, opts...)
}

// other is another process's client, which the proxy does not touch.
func (r *rig) other() *rlock.Client {
	r.Helper()
	return r.open(r.server.URL())
}

func (r *rig) free(key string) bool { return r.Number("EXISTS", key) == 0 }

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
	testbed.Receive(r, "the fault", h.Hit())
}

// subscriptions lists what is subscribed at the server.
func (r *rig) subscriptions() []string {
	r.Helper()
	list, err := redis.Strings(r.Do("PUBSUB", "CHANNELS"), nil)
	if err != nil {
		r.Fatal(err)
	}
	return list
}

// clients counts the server's connections but for this test's own.
func (r *rig) clients() int {
	r.Helper()
	list, err := redis.String(r.Do("CLIENT", "LIST", "TYPE", "normal"), nil)
	pubsub, err2 := redis.String(r.Do("CLIENT", "LIST", "TYPE", "pubsub"), nil)
	if err != nil || err2 != nil {
		r.Fatal(err, err2)
	}
	return strings.Count(list+pubsub, "\n") - 1
}
