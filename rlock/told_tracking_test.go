package rlock_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// infos keeps what is logged at info level.
type infos struct {
	slog.Handler
	mu    *sync.Mutex
	lines *[]string
}

func newInfos() infos { return infos{slog.DiscardHandler, new(sync.Mutex), new([]string)} }

func (i infos) Enabled(context.Context, slog.Level) bool { return true }
func (i infos) WithAttrs([]slog.Attr) slog.Handler       { return i }
func (i infos) Handle(_ context.Context, r slog.Record) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	*i.lines = append(*i.lines, r.Level.String()+" "+r.Message)
	return nil
}

// says counts how often line was logged.
func (i infos) says(line string) (n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, l := range *i.lines {
		if l == line {
			n++
		}
	}
	return n
}

const notTold = "INFO losses are noticed at renewals only"

// If the account may not use tracking, locks work as ever, and the client logs that once.
func TestLossIsToldByRenewalsWhereTrackingIsRefused(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "waits for renewals")
	var beside redistest.Parts
	defer beside.Wait()
	for _, refused := range []string{"tracking", "caching", "list", "info", "channel", "server"} {
		beside.Run(t, refused, func(t *testing.T) {
			s := redistest.Start(t)
			conn, listened := s.Dial(t), s
			if refused == "server" { // a proxy leads the subscription connection to another server
				listened = redistest.Start(t)
			}
			var dials atomic.Int32
			proxy := func(ctx context.Context, network, addr string) (net.Conn, error) {
				if dials.Add(1) == 2 {
					addr = listened.Addr()
				}
				return new(net.Dialer).DialContext(ctx, network, addr)
			}
			rules := []any{"SETUSER", "worker", "on", ">sesame", "~*", "resetchannels", "&redisson_*", "+@all", "-client"}
			for _, rule := range []string{"id", "kill", "setname", "info", "list", "tracking", "caching"} {
				if rule != refused {
					rules = append(rules, "+client|"+rule)
				}
			}
			if refused != "channel" {
				rules = append(rules, "&__redis__:invalidate")
			}
			for _, at := range []*redistest.Server{s, listened} {
				if _, err := at.Dial(t).Do("ACL", rules...); err != nil {
					t.Fatal(err)
				}
			}
			log := newInfos()
			c := openWith(t, "redis://worker:sesame@"+s.Addr(), rlock.WithDialer(proxy), rlock.WithWatchdogTimeout(6*time.Second), rlock.WithCommandTimeout(time.Second), rlock.WithLogger(slog.New(log)))
			h := lock(t, c, "orders")
			becomes(t, "a line that says so", func() bool { return log.says(notTold) == 1 })
			time.Sleep(2500 * time.Millisecond) // a renewal and some rounds
			if n := log.says(notTold); n != 1 || h.Err() != nil {
				t.Errorf("said %d times; the hold: %v", n, h.Err())
			}
			conn.Do("DEL", "orders")
			told(t, "by a renewal", h)
		})
	}
}

// The subscription connection is replaced, and so is the one for commands. The client reads all keys again.
func TestHoldIsWatchedAgainByOtherConnections(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "holds are read when they are some seconds old")
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := openWith(t, s.URL(), neverRenewed)
	for _, sort := range []string{"pubsub", "normal"} {
		h := lock(t, c, sort, rlock.Lease(10*time.Minute))
		watches(t, conn, 1)
		if _, err := conn.Do("CLIENT", "KILL", "TYPE", sort, "SKIPME", "yes"); err != nil {
			t.Fatal(err)
		}
		becomes(t, "a listener", func() bool { return strings.Contains(clients(t, conn), "sub=1") })
		time.Sleep(2500 * time.Millisecond) // it is read again by then
		deletedUnder(t, conn, sort, "after another "+sort+" connection", h)
	}
}

func clients(t *testing.T, conn redis.Conn) string {
	t.Helper()
	list, err := redis.String(conn.Do("CLIENT", "LIST"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// A tracking table that is too small costs reads, but no hold. Redis sends a connection no invalidation for keys that
// its own command evicted. So a renewal, or the read every third of the lease, has to find a loss.
func TestOverflowOfTheTrackingTableEndsNothing(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "holds are read when they are some seconds old")
	s := redistest.Start(t, "--tracking-table-max-keys", "2")
	conn := s.Dial(t)
	c := openWith(t, s.URL(), rlock.WithWatchdogTimeout(9*time.Second))
	var all []*rlock.Hold
	for i := range 8 {
		var opts []rlock.AcquireOption
		if i%2 == 1 {
			opts = append(opts, rlock.Lease(10*time.Minute)) // read as often
		}
		all = append(all, lock(t, c, fmt.Sprint("lock-", i), opts...))
	}
	time.Sleep(3500 * time.Millisecond)
	before, began := topologytest.Calls(t, conn, "evalsha"), time.Now()
	time.Sleep(time.Second)
	looks := topologytest.Calls(t, conn, "evalsha") - before
	if took := time.Since(began).Seconds(); float64(looks) > took*10*8+10 {
		t.Errorf("%d looks in %.1f s", looks, took)
	}
	for i, h := range all {
		if err := h.Err(); err != nil {
			t.Error(i, err)
		}
		conn.Do("DEL", fmt.Sprint("lock-", i))
	}
	for _, h := range all {
		told(t, "DEL, with a full table", h)
	}
}

// A connection that tracks, or is subscribed, does not go back to its pool.
func TestConnectionsOfAPoolEndWithTheClient(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	p := &redis.Pool{MaxActive: 2, MaxIdle: 2, Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", s.Addr(), redis.DialReadTimeout(soonEnough), redis.DialWriteTimeout(soonEnough))
	}}
	defer p.Close()
	c := client(t, p, neverRenewed)
	h := lock(t, c, "orders", rlock.Lease(10*time.Minute))
	deletedUnder(t, conn, "orders", "with a pool", h)
	if n := p.ActiveCount(); n != 2 {
		t.Fatalf("the client has %d connections", n)
	}
	c.Close()
	if n := p.ActiveCount(); n != 0 {
		t.Errorf("%d connections are left", n)
	}
}

// A client without holds is not subscribed.
func TestNobodyListensForChangesWhenNothingIsHeld(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "waits for what does not come")
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := openWith(t, s.URL())
	for range 2 {
		h := lock(t, c, "orders")
		watches(t, conn, 1)
		if err := h.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		becomes(t, "no channel", func() bool {
			all, err := redis.Strings(conn.Do("PUBSUB", "CHANNELS"))
			return err == nil && len(all) == 0
		})
	}
}

// Each node of a cluster sends invalidations for its own keys.
func TestHoldsOfAClusterAreToldByTheirNodes(t *testing.T) {
	t.Parallel()
	s := topologytest.Start(t, 1, 1, 1)
	c := openCluster(t, s, neverRenewed)
	for _, loss := range []string{"DEL", "FLUSHALL"} {
		var all [3]*rlock.Hold
		for i := range all {
			all[i] = lock(t, c, nameOf(i, 0), rlock.Lease(10*time.Minute))
		}
		for i, h := range all {
			watches(t, s.Conn(i), 1)
			if loss == "DEL" {
				s.Conn(i).Do("DEL", nameOf(i, 0))
			} else {
				s.Conn(i).Do("FLUSHALL")
			}
			told(t, fmt.Sprint(loss, " at server ", i), h)
			if i < 2 && all[2].Err() != nil {
				t.Error("one that another server has:", all[2].Err())
			}
		}
	}
}

func TestFixedLeaseIsToldOfAFailoverThatLostIt(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	log := newInfos()
	c := openWith(t, s.URL(), rlock.WithReplicaSync(false), rlock.WithLogger(slog.New(log)))
	master := s.Master()
	h := lock(t, c, "orders", rlock.Lease(10*time.Minute))
	conn := master.Dial(t)
	deletedUnder(t, conn, "orders", "behind Sentinels", h)
	h = lock(t, c, "orders", rlock.Lease(10*time.Minute))
	watches(t, conn, 1)
	for _, n := range s.Nodes { // so that the next master lacks it
		if n != master {
			n.Dial(t).Do("CONFIG", "SET", "replica-read-only", "no")
			n.Dial(t).Do("DEL", "orders")
		}
	}
	s.Failover(s.Sentinels[0])
	s.AwaitMaster(master)
	told(t, "a failover", h)
	if n := log.says(notTold); n != 0 {
		t.Errorf("said %d times, of a connection that was about to end", n)
	}
}
