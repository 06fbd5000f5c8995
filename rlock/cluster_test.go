package rlock_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// openCluster opens a client of a real cluster.
func openCluster(t *testing.T, c *topologytest.Cluster, opts ...rlock.Option) *rlock.Client {
	t.Helper()
	return openWith(t, c.ClusterURL(), opts...)
}

// nameOf returns the i-th lock name in a slot of the given one of three masters.
func nameOf(master, i int) string {
	for n := 0; ; n++ {
		if name := fmt.Sprint("lock-", n); min(int(codec.Slot(name))/5461, 2) == master {
			if i--; i < 0 {
				return name
			}
		}
	}
}

// clusterWaits makes one client hold a name of the first master and another one wait for it,
// subscribed to both kinds of channel.
func clusterWaits(t *testing.T, s *topologytest.Cluster, name string, opts ...rlock.Option) (h *rlock.Hold, entered <-chan error) {
	t.Helper()
	c := openCluster(t, s, append(opts, patient, rlock.WithWatchdogTimeout(10*time.Minute))...)
	h, err := c.NewLock(name).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l := openCluster(t, s, patient).NewLock(name)
	end := make(chan error, 1)
	go func() {
		_, err := l.Lock(t.Context())
		end <- err
	}()
	listensAt(t, s, 0, name)
	return h, end
}

// listensAt waits until a client is subscribed at a server, to both kinds of channel.
func listensAt(t *testing.T, s *topologytest.Cluster, server int, name string) {
	t.Helper()
	becomes(t, fmt.Sprintf("the waiter listens at server %d", server), func() bool {
		n, err := redis.Values(s.Conn(server).Do("PUBSUB", "SHARDNUMSUB", codec.Channel(name)))
		if err != nil {
			t.Fatal(err)
		}
		return listeners(t, s.Conn(server), name) == 1 && n[1] == int64(1)
	})
}

func TestLocksOfACluster(t *testing.T) {
	t.Parallel()
	s := topologytest.StartReplicated(t, 1, 1, 1)
	a, b := openCluster(t, s), openCluster(t, s)
	var holds []*rlock.Hold
	for i := range 60 {
		h, err := a.NewLock(fmt.Sprint("name-", i)).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		holds = append(holds, h)
		if _, err := b.NewLock(fmt.Sprint("name-", i)).TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
			t.Errorf("held, and another client's TryLock says %v", err)
		}
	}
	for i, h := range holds {
		entered := make(chan error, 1)
		go func() {
			h, err := b.NewLock(fmt.Sprint("name-", i)).Lock(t.Context())
			if err == nil {
				err = h.Unlock(t.Context())
			}
			entered <- err
		}()
		if err := h.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-entered; err != nil {
			t.Error(err)
		}
	}
	if h, err := a.NewLock("forced").Lock(t.Context()); err != nil {
		t.Error(err)
	} else if ended, err := b.NewLock("forced").ForceUnlock(t.Context()); !ended || err != nil {
		t.Errorf("forced: %t, %v", ended, err)
	} else if err := h.Unlock(t.Context()); !errors.Is(err, rlock.ErrNotHeld) {
		t.Errorf("forced by another, and Unlock says %v", err)
	}
	if h, err := a.NewSpinLock("spun").Lock(t.Context()); err != nil {
		t.Error(err)
	} else if err := h.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	for i := range 3 {
		for _, code := range []string{"ASK", "CROSSSLOT", "TRYAGAIN", "ERR"} {
			if n := topologytest.Errors(t, s.Conn(i), code); n != 0 {
				t.Errorf("server %d answered %s %d times", i, code, n)
			}
		}
		if n := topologytest.Calls(t, s.Conn(i), "wait"); n == 0 {
			t.Errorf("server %d was never asked to WAIT for its replica", i)
		}
	}
}

func TestReleaseInAClusterWakes(t *testing.T) {
	t.Parallel()
	s := topologytest.StartReplicated(t, 1, 1, 1)
	for name, row := range map[string]struct {
		publish          rlock.Publish
		sharded, plainly int
	}{
		"both":    {rlock.PublishBoth, 1, 1},
		"sharded": {rlock.PublishSharded, 1, 0},
		"plain":   {rlock.PublishPlain, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h, entered := clusterWaits(t, s, nameOf(0, 0), rlock.WithClusterPublish(row.publish))
			tap := monitor.Tap(t, s.Servers[0].URL())
			enters(t, h, entered)
			sharded, plainly := 0, 0 // on the lock's channel: a new connection also sends a SPUBLISH on its own channel
			for _, l := range tap.Mark() {
				switch onIt := len(l.Args) > 1 && l.Args[1] == codec.Channel(nameOf(0, 0)); {
				case onIt && l.Is("SPUBLISH"):
					sharded++
				case onIt && l.Is("PUBLISH"):
					plainly++
				}
			}
			if sharded != row.sharded || plainly != row.plainly {
				t.Errorf("%d SPUBLISH and %d PUBLISH, want %d and %d", sharded, plainly, row.sharded, row.plainly)
			}
			if _, err := s.Conn(0).Do("DEL", nameOf(0, 0)); err != nil { // the waiter holds it
				t.Fatal(err)
			}
		})
	}
}

// The replica acknowledged the WAIT, so it has the lock.
func TestHoldAndWaiterOutliveTheirMaster(t *testing.T) {
	t.Parallel()
	s := topologytest.StartReplicated(t, 1, 1, 1)
	name := nameOf(0, 0)
	h, entered := clusterWaits(t, s, name)
	s.Servers[0].Kill()
	listensAt(t, s, s.Replica(0), name)
	if err := h.Err(); err != nil {
		t.Errorf("the hold ended: %v", err)
	}
	enters(t, h, entered)
}

// A hold that the new master lacks is lost, and ends long before its lease does.
func TestHoldThatTheNewMasterLacksIsTold(t *testing.T) {
	t.Parallel()
	s := topologytest.StartReplicated(t, 1, 1, 1)
	name := nameOf(0, 0)
	replica := s.Replica(0)
	s.Servers[replica].Stop() // so it does not get the lock
	var log bytes.Buffer
	c := openCluster(t, s, patient, rlock.WithReplicaSync(false), rlock.WithWatchdogTimeout(10*time.Minute), rlock.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	h, err := c.NewLock(name).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Servers[0].Kill()
	s.Servers[replica].Restart()
	s.TakeOver(replica)
	select {
	case <-h.Done():
		if err := h.Err(); !errors.Is(err, rlock.ErrLeaseLost) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(6 * soonEnough):
		t.Error("it was not told")
	}
	c.Close()
	if line := regexp.MustCompile(`msg="lease lost".* server=(\S+) .*after the master changed`).FindStringSubmatch(log.String()); line == nil || line[1] != s.Servers[replica].Addr() {
		t.Errorf("logged:\n%s", &log)
	}
}

func TestLeasesOfAClusterAreRenewedBySlot(t *testing.T) {
	t.Parallel()
	s := topologytest.StartReplicated(t, 1, 1, 1)
	c := openCluster(t, s, patient, rlock.WithWatchdogTimeout(15*time.Second)) // of which two thirds may pass on a slow machine
	const each = 200
	var holds [2 * each]*rlock.Hold
	var all sync.WaitGroup
	for i := range holds {
		all.Go(func() {
			name := fmt.Sprint("name-", i)
			if i >= each {
				name = "{tag}" + name
			}
			h, err := c.NewLock(name).Lock(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			holds[i] = h
		})
	}
	if all.Wait(); t.Failed() {
		return
	}
	areRenewed(t, holds[:]...)
	noCrossSlot(t, s)
}

func TestNothingIsLeftOfAClientOfACluster(t *testing.T) {
	t.Parallel()
	s := topologytest.StartReplicated(t, 1, 1, 1)
	c := openCluster(t, s)
	for i := range 3 {
		if _, err := c.NewLock(nameOf(i, 0)).Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = c.NewLock(nameOf(i, 0)).Lock(context.Background()) }()
		becomes(t, "it waits", func() bool { return listeners(t, s.Conn(i), nameOf(i, 0)) == 1 })
	}
	c.Close()
	for i := range 6 {
		becomes(t, "no connection is left", func() bool {
			list, err := redis.String(s.Conn(i).Do("CLIENT", "LIST"))
			return err == nil && !strings.Contains(list, "name=rlock")
		})
	}
}
