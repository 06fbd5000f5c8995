package known

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestMain(m *testing.M) { testbed.Main(m, "32") }

// The machine may stand still for a second in the middle of a test, with an answer or a renewal under way.
const (
	timeout  = 2 * time.Second // of one command
	watchdog = 6 * time.Second
	beyond   = watchdog + watchdog/10 // a lease that nobody renews is over
	long     = time.Minute            // leases that must not be waited for
	patience = testbed.Patience
	name     = "orders"
)

// rig is a server, a proxy before it for the client under test, and a connection that goes around the proxy.
type rig struct {
	*testbed.Proxied
	server *redisserver.LocalServer
	c      *rlock.Client
}

func newRig(t *testing.T, opts ...rlock.Option) *rig {
	t.Helper()
	t.Parallel()
	s := redisserver.Local(t)
	r := &rig{Proxied: testbed.NewProxied(t, s), server: s}
	r.LoadScripts()
	r.c = r.open(r.URL(), opts...)
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
