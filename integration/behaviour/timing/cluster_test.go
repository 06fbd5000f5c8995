package timing

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// cluster is a test's own, a model.
type cluster struct {
	*testbed.SimulatedCluster
	rig *testbed.Rig
}

// playCluster is play with masters that share the slots.
func playCluster(t *testing.T, masters int, test func(t *testing.T, s *cluster)) {
	t.Helper()
	t.Parallel()
	testbed.SimulateCluster(t, masters, func(r *testbed.Rig, c *testbed.SimulatedCluster) { test(r.T, &cluster{c, r}) })
}

func (s *cluster) open(t *testing.T, opts ...rlock.Option) *rlock.Client {
	t.Helper()
	return s.rig.Open(s.URL(), opts...)
}

// do sends a command to a server, which must succeed.
func (s *cluster) do(t *testing.T, server int, command string, args ...any) any {
	t.Helper()
	return testbed.Do(t, s.Conns[server], command, args...)
}

func (s *cluster) id(t *testing.T, server int) string {
	t.Helper()
	id, err := redis.String(s.do(t, server, "CLUSTER", "MYID"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// begin begins to move a key's slot from the first server to the second.
func (s *cluster) begin(t *testing.T, key string) {
	t.Helper()
	s.do(t, 1, "CLUSTER", "SETSLOT", codec.Slot(key), "IMPORTING", s.id(t, 0))
	s.do(t, 0, "CLUSTER", "SETSLOT", codec.Slot(key), "MIGRATING", s.id(t, 1))
}

// move moves a key there.
func (s *cluster) move(t *testing.T, key string) {
	t.Helper()
	host, port, _ := strings.Cut(s.Servers[1].Addr(), ":")
	s.do(t, 0, "MIGRATE", host, port, key, 0, 1000)
}

// settle ends the move, with a key.
func (s *cluster) settle(t *testing.T, key string) {
	t.Helper()
	for server := 1; server >= 0; server-- {
		s.do(t, server, "CLUSTER", "SETSLOT", codec.Slot(key), "NODE", s.id(t, 1))
	}
}

// there tells whether any server has the key.
func (s *cluster) there(t *testing.T, key string) bool {
	t.Helper()
	return slices.ContainsFunc(s.Conns, func(c redis.Conn) bool {
		keys, err := redis.Strings(c.Do("KEYS", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return slices.Contains(keys, key)
	})
}

// Each of two servers names the other as the slot's owner. The error says that they have not settled, and what they
// replied last. The client makes its last attempt when a tenth of the call's time is left.
func TestErrorOfASlotThatDoesNotSettleSaysSo(t *testing.T) {
	playCluster(t, 2, func(t *testing.T, s *cluster) {
		name := s.Name(0, 0)
		c := s.open(t, rlock.WithCommandTimeout(2*time.Second))
		h, err := c.NewLock(name).Lock(t.Context(), rlock.Lease(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		// A server does not give away a slot that has keys.
		if _, err := s.Conns[0].Do("DEL", name); err != nil {
			t.Fatal(err)
		}
		slot := codec.Slot(name)
		for i := range 2 {
			if _, err := s.Conns[i].Do("CLUSTER", "SETSLOT", slot, "NODE", s.id(t, 1-i)); err != nil {
				t.Fatal(err)
			}
		}
		ctx := context.Background()
		says := func(call string, err error) {
			if !errors.Is(err, rlock.ErrUnavailable) || errors.Is(err, rlock.ErrUncertain) || !strings.Contains(err.Error(), "did not settle in time") || !strings.Contains(err.Error(), ": MOVED ") {
				t.Errorf("%s: %v", call, err)
			}
		}
		var all sync.WaitGroup
		for call, f := range map[string]func(l *rlock.Lock) error{
			"TryLock":     func(l *rlock.Lock) error { _, err := l.TryLock(ctx); return err },
			"Lock":        func(l *rlock.Lock) error { _, err := l.Lock(ctx); return err },
			"TryLockFor":  func(l *rlock.Lock) error { _, err := l.TryLockFor(ctx, time.Minute); return err },
			"IsLocked":    func(l *rlock.Lock) error { _, err := l.IsLocked(ctx); return err },
			"ForceUnlock": func(l *rlock.Lock) error { _, err := l.ForceUnlock(ctx); return err },
		} {
			all.Go(func() { says(call, f(c.NewLock("{"+name+"}"+call))) })
		}
		all.Go(func() {
			says("Extend", h.Extend(ctx, time.Minute))
			says("Unlock", h.Unlock(ctx))
		})
		all.Wait()
	})
}

// The slot does not settle within the limit. The error says that nothing ran, and the lock is released once the slot has
// settled.
func TestUnlockInASlotThatDoesNotSettleIsNeverUncertain(t *testing.T) {
	const timeout = 2 * time.Second // the limit is four of them and a second
	for name, given := range map[string]func() (context.Context, context.CancelFunc){
		"to its limit": func() (context.Context, context.CancelFunc) { return context.Background(), func() {} },
		"the caller gives up": func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			playCluster(t, 2, func(t *testing.T, s *cluster) {
				tag := "{" + s.Name(0, 0) + "}"
				h := lockOf(t, s.open(t, rlock.WithCommandTimeout(timeout)).NewLock(tag))
				_ = h.Owner().String() // others may act as this owner, so the unlock needs a latch
				s.begin(t, tag)
				s.move(t, tag)
				ctx, cancel := given()
				defer cancel()
				began := time.Now()
				err := h.Unlock(ctx)
				if err == nil || errors.Is(err, rlock.ErrUncertain) || !strings.Contains(err.Error(), "TRYAGAIN") || !strings.Contains(err.Error(), "not released so far") {
					t.Errorf("after %v: %v", time.Since(began), err)
				}
				if took := time.Since(began); took > 4*timeout+time.Second+latencies {
					t.Errorf("told after %v", took)
				}
				if !s.there(t, tag) {
					t.Error("the key is gone")
				}
				s.settle(t, tag)
				becomes(t, "it is released in the background", func() bool { return !s.there(t, tag) })
			})
		})
	}
}

// A call that does not wait fails after a command timeout, one with a time limit at its end.
func TestBoundsInASlotThatDoesNotSettle(t *testing.T) {
	playCluster(t, 2, func(t *testing.T, s *cluster) {
		const timeout = time.Second
		tag := "{" + s.Name(0, 0) + "}"
		l := s.open(t, rlock.WithCommandTimeout(timeout)).NewFencedLock(tag)
		if err := l.Do(t.Context(), func(context.Context) error { return nil }); err != nil { // its number stays behind
			t.Fatal(err)
		}
		s.begin(t, tag)
		for what, row := range map[string]struct {
			call        func() (*rlock.Hold, error)
			least, most time.Duration
		}{
			"one attempt": {func() (*rlock.Hold, error) { return l.TryLock(t.Context()) }, timeout / 2, timeout},
			"a wait":      {func() (*rlock.Hold, error) { return l.TryLockFor(t.Context(), 3*timeout) }, 3 * timeout, 3 * timeout},
		} {
			began := time.Now()
			_, err := row.call()
			if took := time.Since(began); !errors.Is(err, rlock.ErrUnavailable) && !errors.Is(err, rlock.ErrUncertain) || !strings.Contains(err.Error(), "TRYAGAIN") && !strings.Contains(err.Error(), "ASK ") || took < row.least || took > row.most+latencies {
				t.Errorf("%s: %v after %v", what, err, took)
			}
		}
	})
}

// When one master's tunnel stalls, only that master's holds are lost.
func TestAMasterWhoseTunnelStallsCostsTheOthersNoHold(t *testing.T) {
	const lease = stalledTimeout / 3
	playCluster(t, 3, func(t *testing.T, s *cluster) {
		g := gate{dial: s.rig.Dial}
		c := openThrough(t, &g, s.URL(), rlock.WithCommandTimeout(stalledTimeout), rlock.WithWatchdogTimeout(lease))
		var holds [3][]*rlock.Hold
		for master := range holds {
			for i := range 2 {
				holds[master] = append(holds[master], lock(t, c, s.Name(master, i)))
			}
		}
		open := g.stall(s.Servers[0].Addr())
		defer open()
		for _, h := range holds[0] {
			<-h.Done()
		}
		time.Sleep(lease / 2) // so that a renewal that was already in flight is not enough
		for master := 1; master < len(holds); master++ {
			for _, h := range holds[master] {
				if err := h.Err(); err != nil {
					t.Errorf("master %d: %v", master, err)
				}
			}
		}
	})
}
