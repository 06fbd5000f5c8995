package javakinds

import (
	"errors"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/integration/redisson/alike"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// TestGoWakesBothSortsOfJavaInACluster: Redisson 4.7.0 publishes to shards and 3.21.3 to all, and each hears only its own,
// so a queue of both stalls. Go hears and sends both: with Go between them the queue moves, in order.
func TestGoWakesBothSortsOfJavaInACluster(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	p := wake(t, c.ClusterURL(), c.Conn(0), c.Conn(1), c.Conn(2))
	for i := range 3 {
		if n := topologytest.Errors(t, c.Conn(i), "CROSSSLOT"); n != 0 {
			t.Errorf("server %d answered CROSSSLOT %d times", i, n)
		}
	}
	client := p.Sides["G"].(*alike.Go).Client
	_, err := client.NewPermitSemaphore("a{b").TryAcquire(t.Context(), 1)
	for _, err := range []error{
		err, client.NewSemaphore("a{b").TryAcquire(t.Context(), 1), client.NewCountDownLatch("x{t}y").CountDown(t.Context()),
		client.NewCountDownLatch("a}b").Await(t.Context()),
	} {
		if !errors.Is(err, rlock.ErrInvalidName) {
			t.Errorf("a name in two slots: %v", err)
		}
	}
}

func TestGoWakesJavaBehindSentinels(t *testing.T) {
	inFull(t)
	t.Parallel()
	s := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	wake(t, s.URL(), s.Master().Dial(t))
}

// wake has Go and then each Java release; a waiter of the other must enter at once.
func wake(t *testing.T, url string, conns ...redis.Conn) alike.Play {
	t.Helper()
	p := alike.Play{View: testbed.Asking(t, conns[0]), Conns: conns, Sharded: len(conns) > 1, Version: javapeer.Newest, Most: 2 * atOnce, Sides: map[string]alike.Side{
		"G": alike.NewGo(t, url), "J": alike.NewJava(t, javapeer.Newest, url), "O": alike.NewJava(t, "3.21.3", url)}}
	for _, of := range []struct {
		kind         Kind
		first, older string
	}{
		// The leases end far later than Most.
		{Kind{Name: "plain", of: javapeer.Plain}, ``, `
			G w lock; X w& lock; G w unlock; X w ends; X w unlock
			X w lock; G w& lock; X w unlock; G w ends; G w unlock`},
		{readWrite, `
			G w write:lock; J r& read:lock; O r& read:lock; G w write:unlock; all unlock`, `
			G r read:lock; X w& write:lock; G r read:unlock; X w ends; X w write:unlock
			X w write:lock; G w& write:lock; X w write:unlock; G w ends; G w write:unlock
			X w read:lock; G w& write:lock; X w read:unlock; G w ends; G w write:unlock`},
		// The leases are too long for their ends to wake a waiter.
		{permits, `
			G a trysetpermits 1 = true`, `
			G a acquire 10m > a; X w& acquire 10m; G a release $a; X w ends > w; X w release $w
			X a acquire 10m > a; G w& acquire 10m; X a release $a; G w ends > w; G w release $w
			G a available = 1; G a acquired = 0`},
		{semaphores, ``, `
			X w& acquire 1; G a release 1; X w ends; G w& acquire 1; X a release 1; G w ends; G a available = 0`},
		{latches, ``, `
			G a trysetcount 1 = true; X w& await; G a countdown; X w ends
			X a trysetcount 1 = true; G w& await; X a countdown; G w ends; G a count = 0`},
		// Without a message only Go looks, and only after 4 s.
		{fair, `
			G holder lock; J j0& lock; G g0& lock; O j1& lock; G g1& lock; J j2& lock; G g2& lock
			G holder unlock; J j0 ends; J j0 unlock; G g0 ends; G g0 unlock; O j1 ends; O j1 unlock; G g1 ends; G g1 unlock
			J j2 ends; J j2 unlock; G g2 ends; G g2 unlock`, ``},
	} {
		t.Run(of.kind.Name, func(t *testing.T) {
			p := p.For(t, "place-"+of.kind.Name)
			if p.Kind = of.kind.of; p.Kind == javapeer.Fair {
				p.Most = atOnce
			}
			p.Run(of.first)
			p.Run(of.older, "X", "J")
			p.Run(of.older, "X", "O")
		})
	}
	return p
}
