package logs_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// sentinels has a Sentinel that sends this client no messages, and a failover.
func sentinels(t *testing.T, s redisserver.Server) []*rig {
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	silent := set.Sentinels[2]
	testbed.Do(t, silent.Dial(t), "ACL", "SETUSER", "default", "resetchannels")
	for _, sentinel := range set.Sentinels {
		testbed.Do(t, sentinel.Dial(t), "SENTINEL", "SET", redistest.MasterName, "down-after-milliseconds", 30000)
	}
	r := &rig{Proxied: testbed.NewProxied(t, s), seen: newCapture()}
	r.client = r.Open(set.URL(), rlock.WithLogger(slog.New(r.seen)), rlock.WithCommandTimeout(timeout))
	r.logged("sentinel unheard", "sentinel", silent.Addr())
	r.logged("connected", "connection", "sentinel "+set.Sentinels[0].Addr())
	former := set.Master()
	r.logged("failover too slow", "down_after", "30s", "watchdog_timeout", "30s")
	r.logged("connected", "connection", "commands", "server", former.Addr())
	h := r.Hold(r.lock())
	for _, node := range set.Nodes {
		if node == former {
			continue
		}
		conn := node.Dial(t)
		for _, command := range [][]any{{"CONFIG", "SET", "replica-read-only", "no"}, {"DEL", h.Name()}} {
			testbed.Do(t, conn, command[0].(string), command[1:]...)
		}
	}
	set.Failover(set.Sentinels[0])
	next := set.AwaitMaster(former)
	r.logged("master changed", "from", former.Addr(), "to", next.Addr())
	r.logged("lease lost", "lock", h.Name(), "server", next.Addr(), "cause", vanished+", after the master changed")
	// Later losses, and those of holds from after the failover, have another cause.
	late := r.Hold(r.lock())
	if there, err := r.client.NewLock(late.Name()).ForceUnlock(r.Context()); !there || err != nil {
		t.Fatal(there, err)
	}
	if cause := r.logged("lease lost", "lock", late.Name()).text("cause"); strings.Contains(cause, "master") {
		t.Errorf("forced, and the cause is: %s", cause)
	}
	if n := len(r.seen.of("failover too slow")[slog.LevelWarn]); n != 1 {
		t.Errorf("%d warnings of slow failovers", n)
	}
	patient := newCapture()
	r.Open(set.URL(), rlock.WithLogger(slog.New(patient)), rlock.WithWatchdogTimeout(time.Minute)) // its leases outlast such a failover
	if lines := patient.of("failover too slow"); len(lines) != 0 {
		t.Errorf("logged %v", lines)
	}
	return []*rig{r}
}

// detached has a replica that is made a master beside its own, which follows it then.
func detached(t *testing.T, s redisserver.Server) []*rig {
	set := redistest.StartReplicated(t, 1)
	r := &rig{Proxied: testbed.NewProxied(t, s), seen: newCapture()}
	r.client = r.Open(set.URL(), rlock.WithLogger(slog.New(r.seen)), rlock.WithCommandTimeout(timeout))
	r.Hold(r.lock())
	master, next := set.Nodes[0], set.Nodes[1]
	set.Detach(next)
	r.logged("two masters", "server", master.Addr())
	set.Follow(master, next)
	r.logged("master changed", "from", master.Addr(), "to", next.Addr())
	if n := len(r.seen.of("two masters")[slog.LevelWarn]); n != 1 {
		t.Errorf("%d warnings of two masters", n)
	}
	return []*rig{r}
}

// forgetful has a cluster with a master that came back without its nodes.conf. Then it hides its node ids.
func forgetful(t *testing.T, s redisserver.Server) []*rig {
	c := topologytest.StartFronted(t, func(int) redistest.Front {
		return redistest.Front{Args: []string{"--cluster-require-full-coverage", "no"}}
	}, 1, 1, 1)
	c.Forget(0)
	r := &rig{Proxied: testbed.NewProxied(t, s), seen: newCapture()}
	r.client = r.Open(c.ClusterURL(), rlock.WithLogger(slog.New(r.seen)), rlock.WithCommandTimeout(timeout))
	r.logged("slots without a server")
	for i := range c.Servers {
		testbed.Do(t, c.Conn(i), "ACL", "SETUSER", "default", "-cluster|myid")
	}
	r.Open(c.ClusterURL(), rlock.WithLogger(slog.New(r.seen)), rlock.WithCommandTimeout(timeout))
	r.logged("node ids not checked")
	return []*rig{r}
}
