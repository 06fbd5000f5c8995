package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/leakcheck"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

const patience = testbed.Patience

func open(t *testing.T, c *topologytest.Cluster, opts ...rlock.Option) *rlock.Client {
	t.Helper()
	return testbed.Open(t, c.ClusterURL(), opts...)
}

// nameOf is a lock name of one of three masters.
func nameOf(master int) string {
	for n := 0; ; n++ {
		if name := fmt.Sprint("lock-", n); min(int(codec.Slot(name))/5461, 2) == master {
			return name
		}
	}
}

// works has two clients lock, wait and wake on each of three masters; then it moves
// a slot while its lock is held and waited for.
func works(t *testing.T, c *topologytest.Cluster, url string, opts ...rlock.Option) {
	t.Helper()
	opts = append(opts, rlock.WithConnectionName("tried"), rlock.WithWatchdogTimeout(time.Minute))
	holder, waiter := testbed.Open(t, url, opts...), testbed.Open(t, url, opts...)
	for master := range 3 {
		handOver(t, c, holder, waiter, master, func() {})
	}
	slot := codec.Slot(nameOf(0))
	handOver(t, c, holder, waiter, 0, func() { c.Move(0, 1, slot) })
	if _, err := c.Conn(0).Do("GET", nameOf(0)); err == nil || !strings.HasPrefix(err.Error(), "MOVED ") {
		t.Errorf("the slot has not moved: %v", err)
	}
}

// handOver has one client hold a lock and the other wait, wakes the waiter after
// meanwhile, and has it release the lock.
func handOver(t *testing.T, c *topologytest.Cluster, holder, waiter *rlock.Client, master int, meanwhile func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	name := nameOf(master)
	h, err := holder.NewLock(name).Lock(ctx)
	testbed.Must(t, err)
	entered := testbed.Begun(func() error {
		return waiter.NewLock(name).Do(ctx, func(context.Context) error { return nil })
	})
	testbed.Becomes(t, "the waiter listens", func() bool {
		n, err := redis.Values(c.Conn(master).Do("PUBSUB", "NUMSUB", codec.Channel(name)))
		return err == nil && n[1] == int64(1)
	})
	meanwhile()
	if err := h.Unlock(ctx); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if err := <-entered; err != nil {
		t.Errorf("%s: the waiter: %v", name, err)
	}
}

// peers returns the addresses from which the clients of works reach a server.
func peers(t *testing.T, c *topologytest.Cluster, server int) (addrs []string) {
	t.Helper()
	list, err := redis.String(c.Conn(server).Do("CLIENT", "LIST"))
	testbed.Must(t, err)
	for line := range strings.Lines(list) {
		if strings.Contains(line, " name=tried ") {
			_, addr, _ := strings.Cut(line, " addr=")
			addr, _, _ = strings.Cut(addr, " ")
			addrs = append(addrs, addr)
		}
	}
	return addrs
}

func TestMain(m *testing.M) { leakcheck.Main(m) }
