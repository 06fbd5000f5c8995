package timing

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/rlock"
)

// acquiring makes callers acquire, each another lock, until stop is called. So nearly all the time a WAIT of acquires
// is unanswered.
func acquiring(t *testing.T, c *rlock.Client, callers int) (stop func() (acquired int)) {
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var n atomic.Int64
	for range callers {
		all.Go(func() {
			for ctx.Err() == nil {
				l := c.NewLock(fmt.Sprint("acquired-", n.Add(1)))
				if _, err := l.TryLock(ctx, rlock.Lease(time.Hour)); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	end := sync.OnceFunc(func() { cancel(); all.Wait() })
	t.Cleanup(end)
	return func() int { end(); return int(n.Load()) }
}

// Releases and extensions run, and wait for their replicas, while the WAIT of acquires is unanswered.
func TestReleasesAndRenewalsDoNotStandBehindAcquires(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		opts []rlock.AcquireOption
		do   func(t *testing.T, h *rlock.Hold) error
		ran  func(ttl int64) bool // whether the key's TTL shows it
	}{
		"Unlock": {nil, func(t *testing.T, h *rlock.Hold) error { return h.Unlock(t.Context()) }, func(ttl int64) bool { return ttl == -2 }},
		"Extend": {
			[]rlock.AcquireOption{rlock.Lease(10 * time.Minute)},
			func(t *testing.T, h *rlock.Hold) error { return h.Extend(t.Context(), time.Hour) },
			func(ttl int64) bool { return ttl > 11*60_000 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, s *server) {
				s.replicas(2)
				c := s.openSynced(t, rlock.WithDialer(s.rig.Dial))
				h := lock(t, c, "held", row.opts...)
				s.slow()
				first := make(chan error, 1)
				go func() {
					_, err := c.NewLock("first").TryLock(t.Context(), rlock.Lease(time.Hour))
					first <- err
				}()
				time.Sleep(latencies) // it waits for the replicas
				var later sync.WaitGroup
				var returned atomic.Int32
				for i := range 99 { // these are sent together, once the first is answered
					later.Go(func() {
						if _, err := c.NewLock(fmt.Sprint("later-", i)).TryLock(t.Context(), rlock.Lease(time.Hour)); err != nil {
							t.Error(err)
						}
						returned.Add(1)
					})
				}
				done := make(chan error, 1)
				began := time.Now()
				go func() { done <- row.do(t, h) }()
				time.Sleep(latencies)
				if ttl, err := redis.Int64(s.rig.Conn.Do("PTTL", "held")); err != nil || !row.ran(ttl) {
					t.Errorf("it has not run: %d, %v", ttl, err)
				}
				t.Logf("ran within %v", time.Since(began))
				if err := <-done; err != nil {
					t.Error(err)
				}
				if n := returned.Load(); n > 0 {
					t.Errorf("%d acquires had their answer before it", n)
				}
				t.Logf("returned after %v, its own WAIT included", time.Since(began))
				if err := <-first; err != nil {
					t.Error(err)
				}
				later.Wait()
			})
		})
	}
}

// Each hold is renewed every third of its lease, at most a WAIT late, however many acquires there are.
func TestWatchdogKeepsItsThirdBesideAcquiresThatWait(t *testing.T) {
	const lease, callers = 9 * time.Second, 100
	play(t, func(t *testing.T, s *server) {
		s.replicas(2)
		c := s.openSynced(t, rlock.WithDialer(s.rig.Dial), rlock.WithWatchdogTimeout(lease))
		var holds []*rlock.Hold
		for i := range 300 {
			holds = append(holds, lock(t, c, fmt.Sprint("kept-", i)))
		}
		s.slow()
		stop := acquiring(t, c, callers)
		least := int64(lease / time.Millisecond)
		for end := time.Now().Add(lease + lease/2); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			for i := 0; i < len(holds); i += 50 {
				ttl, err := redis.Int64(s.rig.Conn.Do("PTTL", fmt.Sprint("kept-", i)))
				if err != nil {
					t.Fatal(err)
				}
				least = min(least, ttl)
			}
		}
		for _, h := range holds {
			if err := h.Err(); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%d acquires beside them; the least that was left of a lease of %v: %d ms", stop(), lease, least)
		// A third of the lease, and a WAIT of other renewals.
		if least < (lease - lease/3 - 1500*time.Millisecond).Milliseconds() {
			t.Errorf("a renewal was late: %d ms were left", least)
		}
	})
}

// An acquire that follows a release runs after it, even if the release is queued behind a WAIT: the acquire is not
// refused first.
func TestHandOffFollowsItsReleaseAside(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		s.replicas(2)
		c := s.openSynced(t, rlock.WithDialer(s.rig.Dial))
		other, h := lock(t, c, "other"), lock(t, c, "passed", rlock.Lease(time.Hour))
		entered := make(chan error, 1)
		go func() {
			_, err := c.NewLock("passed").Lock(t.Context(), rlock.Lease(time.Hour))
			entered <- err
		}()
		becomes(t, "somebody waits", func() bool { return s.rig.Subscribed("passed") == 1 })
		lock(t, c, "a moment later") // by now the waiter's attempt after the confirmation is answered
		s.slow()
		var releases sync.WaitGroup
		releases.Go(func() {
			if err := other.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(latencies) // it waits for the replicas
		tap := s.tap()
		if err := h.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-entered; err != nil {
			t.Error(err)
		}
		ran := slices.DeleteFunc(tap.Mark(), func(l monitor.Line) bool { return !l.Is("EVALSHA") || l.Args[1] == luasrc.RenewScript.SHA1 }) // without looks
		if len(ran) != 2 {
			t.Errorf("an unlock and the acquire that follows it sent %v", ran)
		}
		releases.Wait()
	})
}

// A caller that is refused before a queued release has run is woken by that release.
func TestWhoIsRefusedBeforeAReleaseRunsIsWoken(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		s.replicas(2)
		c := s.openSynced(t, rlock.WithDialer(s.rig.Dial))
		other, h := lock(t, c, "other"), lock(t, c, "passed", rlock.Lease(time.Hour))
		s.slow()
		var releases sync.WaitGroup
		unlock := func(h *rlock.Hold) {
			releases.Go(func() {
				if err := h.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		unlock(other)
		time.Sleep(latencies) // it waits for the replicas
		unlock(h)             // queued behind the WAIT of the other release
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if _, err := c.NewLock("passed").Lock(ctx, rlock.Lease(time.Hour)); err != nil {
			t.Errorf("never woken: %v", err)
		}
		releases.Wait()
	})
}

// Without replicas there is no WAIT to queue behind, so the client has one connection. With replicas it has two.
func TestSecondConnectionIsMadeWhereWAITIsInUse(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		conn := s.Dial(t)
		count := func() int {
			list, err := redis.String(conn.Do("CLIENT", "LIST", "TYPE", "normal"))
			if err != nil {
				t.Fatal(err)
			}
			return strings.Count(list, " name=counted ")
		}
		use := func(c *rlock.Client) {
			for range 3 {
				if err := lock(t, c, "used").Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
		open := func(opts ...rlock.Option) *rlock.Client {
			c, err := rlock.Open(t.Context(), s.URL(), append(opts, rlock.WithConnectionName("counted"), rlock.WithDialer(s.rig.Dial))...)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		for _, sync := range []bool{false, true} {
			c := open(rlock.WithReplicaSync(sync))
			use(c)
			if n := count(); n != 1 {
				t.Errorf("%d connections for commands, and nobody to wait for", n)
			}
			c.Close()
		}
		s.replicas(1)
		for _, sync := range []bool{false, true} {
			c := open(rlock.WithReplicaSync(sync))
			use(c)
			want := 1
			if sync {
				want = 2
			}
			if n := count(); n != want {
				t.Errorf("replicas are waited for: %t, and %d connections for commands", sync, n)
			}
			c.Close()
			becomes(t, "Close leaves no connection", func() bool { return count() == 0 })
		}
	})
}

// While the second connection can't be made, all commands use the first.
func TestWithoutASecondConnectionAllGoTogether(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		s.replicas(2)
		var open, refused atomic.Int32
		dialer := func(ctx context.Context, network, addr string) (net.Conn, error) {
			if !open.CompareAndSwap(0, 1) {
				refused.Add(1)
				return nil, errors.New("no more connections")
			}
			conn, err := s.rig.Dial(ctx, network, addr)
			if err != nil {
				open.Store(0)
				return nil, err
			}
			return &onlyConn{Conn: conn, closes: sync.OnceFunc(func() { open.Store(0) })}, nil
		}
		c := s.openSynced(t, rlock.WithDialer(dialer))
		for range 3 {
			if err := lock(t, c, "held").Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if refused.Load() == 0 {
			t.Error("no second connection was tried")
		}
	})
}

// onlyConn lets its dialer make the next connection when it is closed.
type onlyConn struct {
	net.Conn
	closes func()
}

func (c *onlyConn) Close() error {
	defer c.closes()
	return c.Conn.Close()
}
