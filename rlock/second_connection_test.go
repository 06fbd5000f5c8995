package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// silentReplica is a master with two replicas. Once one of them is silenced, each WAIT takes its full second.
type silentReplica struct {
	*redistest.Server
	t    *testing.T
	conn redis.Conn // with all rights
	mute *redistest.Server
}

func startSilentReplica(t *testing.T) *silentReplica {
	t.Helper()
	s := &silentReplica{Server: redistest.Start(t), t: t}
	s.conn = s.Dial(t)
	for range 2 {
		s.mute = s.StartReplica(t)
	}
	return s
}

// silence pauses the replica.
func (s *silentReplica) silence() {
	s.t.Helper()
	s.mute.Pause()
	s.t.Cleanup(s.mute.Resume)
}

func (s *silentReplica) info(section string) string {
	s.t.Helper()
	text, err := redis.String(s.conn.Do("INFO", section))
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// waits tells whether n connections are blocked in WAIT.
func (s *silentReplica) waits(n int) bool {
	return strings.Contains(s.info("clients"), fmt.Sprintf("blocked_clients:%d\r\n", n))
}

// open opens a client, and runs the scripts once so that the server knows them.
func (s *silentReplica) open(opts ...rlock.Option) *rlock.Client {
	s.t.Helper()
	c, err := rlock.Open(s.t.Context(), s.URL(), append(opts, rlock.WithReplicaSync(true))...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	h := lock(s.t, c, "first of all", rlock.Lease(time.Hour))
	if err := errors.Join(h.Extend(s.t.Context(), time.Hour), h.Unlock(s.t.Context())); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// lock takes a lock that nobody has.
func lock(t *testing.T, c *rlock.Client, name string, opts ...rlock.AcquireOption) *rlock.Hold {
	t.Helper()
	h, err := c.NewLock(name).TryLock(t.Context(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

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
	redistest.Slow(t, "WAITs run into their timeout")
	var beside redistest.Parts
	defer beside.Wait()
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
		beside.Run(t, name, func(t *testing.T) {
			s := startSilentReplica(t)
			c := s.open()
			h := lock(t, c, "held", row.opts...)
			s.silence()
			first := make(chan error, 1)
			go func() {
				_, err := c.NewLock("first").TryLock(t.Context(), rlock.Lease(time.Hour))
				first <- err
			}()
			s.AwaitBlocked(t)
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
			becomes(t, "it waits for its replicas beside an acquire", func() bool { return s.waits(2) })
			if ttl, err := redis.Int64(s.conn.Do("PTTL", "held")); err != nil || !row.ran(ttl) {
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
	}
}

// Each hold is renewed every third of its lease, at most a WAIT late, however many acquires there are.
func TestWatchdogKeepsItsThirdBesideAcquiresThatWait(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a lease and a half pass")
	const lease, callers = 9 * time.Second, 100
	s := startSilentReplica(t)
	c := s.open(rlock.WithWatchdogTimeout(lease))
	var holds []*rlock.Hold
	for i := range 300 {
		holds = append(holds, lock(t, c, fmt.Sprint("kept-", i)))
	}
	s.silence()
	stop := acquiring(t, c, callers)
	least := int64(lease / time.Millisecond)
	for end := time.Now().Add(lease + lease/2); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		for i := 0; i < len(holds); i += 50 {
			ttl, err := redis.Int64(s.conn.Do("PTTL", fmt.Sprint("kept-", i)))
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
	// A third of the lease, a WAIT of other renewals, and the machine's delay.
	if least < (lease - lease/3 - 2500*time.Millisecond).Milliseconds() {
		t.Errorf("a renewal was late: %d ms were left", least)
	}
}

// An acquire that follows a release runs after it, even if the release is queued behind a WAIT: the acquire is not
// refused first.
func TestHandOffFollowsItsReleaseAside(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "WAITs run into their timeout")
	s := startSilentReplica(t)
	c := s.open()
	other, h := lock(t, c, "other"), lock(t, c, "passed", rlock.Lease(time.Hour))
	entered := make(chan error, 1)
	go func() {
		_, err := c.NewLock("passed").Lock(t.Context(), rlock.Lease(time.Hour))
		entered <- err
	}()
	becomes(t, "somebody waits", func() bool { return listeners(t, s.conn, "passed") == 1 })
	lock(t, c, "a moment later") // by now the waiter's attempt after the confirmation is answered
	s.silence()
	var releases sync.WaitGroup
	releases.Go(func() {
		if err := other.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
	s.AwaitBlocked(t)
	before := scripts(t, s.conn)
	if err := h.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-entered; err != nil {
		t.Error(err)
	}
	if n := scripts(t, s.conn) - before; n != 2 {
		t.Errorf("%d scripts for an unlock and the acquire that follows it", n)
	}
	releases.Wait()
}

// scripts returns how many scripts the server ran, but for reads of held keys, which follow a tracking command.
func scripts(t *testing.T, conn redis.Conn) int {
	t.Helper()
	text, err := redis.String(conn.Do("INFO", "commandstats"))
	if err != nil {
		t.Fatal(err)
	}
	calls := func(command string) (n int) {
		if _, rest, ok := strings.Cut(text, "cmdstat_"+command+":calls="); ok {
			_, _ = fmt.Sscanf(rest, "%d", &n)
		}
		return n
	}
	return calls("evalsha") - calls("client|tracking") - calls("client|caching")
}

// A caller that is refused before a queued release has run is woken by that release.
func TestWhoIsRefusedBeforeAReleaseRunsIsWoken(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "WAITs run into their timeout")
	s := startSilentReplica(t)
	c := s.open()
	other, h := lock(t, c, "other"), lock(t, c, "passed", rlock.Lease(time.Hour))
	s.silence()
	var releases sync.WaitGroup
	unlock := func(h *rlock.Hold) {
		releases.Go(func() {
			if err := h.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	unlock(other)
	s.AwaitBlocked(t)
	unlock(h) // queued behind the WAIT of the other release
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := c.NewLock("passed").Lock(ctx, rlock.Lease(time.Hour)); err != nil {
		t.Errorf("never woken: %v", err)
	}
	releases.Wait()
}

// Without replicas there is no WAIT to queue behind, so the client has one connection. With replicas it has two.
func TestSecondConnectionIsMadeWhereWAITIsInUse(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--repl-diskless-sync-delay", "0")
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
		c, err := rlock.Open(t.Context(), s.URL(), append(opts, rlock.WithConnectionName("counted"))...)
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
	s.StartReplica(t)
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
}

// While the second connection can't be made, all commands use the first.
func TestWithoutASecondConnectionAllGoTogether(t *testing.T) {
	t.Parallel()
	s := startSilentReplica(t)
	var open, refused atomic.Int32
	dialer := func(ctx context.Context, network, addr string) (net.Conn, error) {
		if !open.CompareAndSwap(0, 1) {
			refused.Add(1)
			return nil, errors.New("no more connections")
		}
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err != nil {
			open.Store(0)
			return nil, err
		}
		return &onlyConn{Conn: conn, closes: sync.OnceFunc(func() { open.Store(0) })}, nil
	}
	c := s.open(patient, rlock.WithDialer(dialer))
	for range 3 {
		if err := lock(t, c, "held").Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if refused.Load() == 0 {
		t.Error("no second connection was tried")
	}
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
