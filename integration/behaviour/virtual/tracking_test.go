package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// neverRenewed makes renewals so rare that only an invalidation can show a loss.
var neverRenewed = rlock.WithWatchdogTimeout(10 * time.Minute)

// forLong is a fixed lease, which is read as rarely.
var forLong = rlock.Lease(10 * time.Minute)

// told checks that holds end as lost within a time.
func (r *rig) told(within time.Duration, what string, holds ...anyHold) {
	r.Helper()
	began := time.Now()
	for _, h := range holds {
		<-h.Done()
		if took := since(began); took > within || !errors.Is(h.Err(), rlock.ErrLeaseLost) {
			r.Errorf("%s: told after %v: %v", what, took, h.Err())
		}
	}
}

// atOnce is how long after an invalidation a hold ends.
const atOnce = 250 * time.Millisecond

func TestHoldOfEachKindIsToldOfItsLossAtOnce(t *testing.T) {
	ctx := context.Background()
	for _, opts := range [][]rlock.PermitOption{nil, {forLong}} {
		t.Run(fmt.Sprint("fixed ", opts != nil), func(t *testing.T) {
			inBubble(t, func(r *rig) {
				c := r.open(neverRenewed)
				seats := c.NewPermitSemaphore("permits")
				must(seats.TrySetPermits(ctx, 5))(r)
				holds := map[string]anyHold{codec.PermitTimes("permits"): must(seats.Acquire(ctx, 2, opts...))(r)}
				var all []rlock.AcquireOption
				for _, o := range opts {
					all = append(all, o)
				}
				for name, l := range map[string]*rlock.Lock{
					"plain": c.NewLock("plain"), "spin": c.NewSpinLock("spin"), "fair": c.NewFairLock("fair"), "fenced": c.NewFencedLock("fenced"),
					"non-reentrant": c.NewNonReentrantLock("non-reentrant"),
					"read":          c.NewReadWriteLock("read").ReadLock(), "write": c.NewReadWriteLock("write").WriteLock(),
				} {
					holds[name] = must(l.Lock(ctx, all...))(r)
				}
				forced := must(c.NewLock("forced").Lock(ctx, all...))(r)
				r.pass(5 * time.Second) // all are tracked
				for key, h := range holds {
					r.goesOn(h)
					r.do("DEL", key)
					r.told(atOnce, "DEL of "+key, h)
				}
				r.goesOn(forced)
				must(r.open().NewLock("forced").ForceUnlock(ctx))(r)
				r.told(atOnce, "ForceUnlock elsewhere", forced)
			})
		})
	}
}

// An owner that both writes and reads loses both holds.
func TestHoldsOfTwoKindsAreBothTold(t *testing.T) {
	inBubble(t, func(r *rig) {
		rw := r.open(neverRenewed).NewReadWriteLock("doc")
		write := must(rw.WriteLock().Lock(context.Background()))(r)
		read := must(rw.ReadLock().Lock(context.Background(), rlock.As(write.Owner())))(r)
		r.pass(5 * time.Second)
		r.do("DEL", "doc")
		r.told(atOnce, "DEL", write, read)
	})
}

// A key that is written again and again costs few reads, and ends no hold.
func TestFalseAlarmsEndNothingAndAreRateLimited(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := must(r.open(neverRenewed).NewLock("orders").Lock(context.Background()))(r)
		r.pass(5 * time.Second)
		looks := r.scripts(1)
		for range 2000 {
			r.do("HINCRBY", "orders", "another", "1")
			r.pass(time.Millisecond)
		}
		if n := looks(); n < 10 || n > 21 {
			t.Errorf("%d looks in two seconds, want one each 100 ms", n)
		}
		r.goesOn(h)
		r.do("DEL", "orders")
		r.told(atOnce, "DEL after false alarms", h)
	})
}

// The client reads the key again after its owner's own writes.
func TestHoldIsToldAfterItsOwnersOwnWrites(t *testing.T) {
	ctx := context.Background()
	for what, write := range map[string]func(r *rig, l *rlock.Lock, h *rlock.Hold){
		"Extend": func(r *rig, _ *rlock.Lock, h *rlock.Hold) { must(0, h.Extend(ctx, 20*time.Minute))(r) },
		"nested": func(r *rig, l *rlock.Lock, h *rlock.Hold) { must(l.Lock(ctx, rlock.As(h.Owner())))(r) },
		"a nested hold that has ended": func(r *rig, l *rlock.Lock, h *rlock.Hold) {
			must(0, must(l.Lock(ctx, rlock.As(h.Owner())))(r).Unlock(ctx))(r)
		},
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				l := r.open(neverRenewed).NewLock("orders")
				h := must(l.Lock(ctx, forLong))(r)
				r.pass(5 * time.Second)
				write(r, l, h)
				r.pass(5 * time.Second)
				r.do("DEL", "orders")
				r.told(atOnce, "DEL", h)
			})
		})
	}
}

// The server sends a client no invalidation for the client's own writes, nor for later changes. So after another
// hold's write the client reads the key again for the remaining holds. That also finds a loss in between.
func TestHoldIsToldThoughAnotherOfItsClientCameAndWent(t *testing.T) {
	ctx := context.Background()
	for what, lost := range map[string]time.Duration{"at once": 0, "later": 2 * time.Second} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				l := r.open(neverRenewed).NewReadWriteLock("doc").ReadLock()
				var holds []anyHold
				for range 3 {
					holds = append(holds, must(l.Lock(ctx))(r))
				}
				r.pass(5 * time.Second)
				must(0, must(l.Lock(ctx))(r).Unlock(ctx))(r)
				r.pass(lost)
				r.do("DEL", "doc")
				r.told(map[bool]time.Duration{true: 2 * time.Second, false: atOnce}[lost == 0], "DEL", holds...)
			})
		})
	}
}

// The subscription connection is replaced, and so is the one for commands. The client reads all keys again.
func TestHoldIsWatchedAgainByOtherConnections(t *testing.T) {
	for _, sort := range []string{"pubsub", "normal"} {
		t.Run(sort, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				h := must(r.open(neverRenewed).NewLock("orders").Lock(context.Background(), forLong))(r)
				r.pass(5 * time.Second)
				r.do("CLIENT", "KILL", "TYPE", sort)
				r.pass(5 * time.Second)
				r.do("DEL", "orders")
				r.told(atOnce, "DEL", h)
			})
		})
	}
}

// If the account may not use tracking, or the listener is at another server, locks work as ever, and the client logs that once.
func TestLossIsToldByRenewalsWhereTrackingIsRefused(t *testing.T) {
	for _, refused := range []string{"client|tracking", "client|caching", "client|list", "client|info", "a channel", "a server"} {
		t.Run(refused, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				const elsewhere = "10.0.0.2:6379"
				r.at(func() {
					simredis.New(r.world, elsewhere)
					r.server.NoChannels = refused == "a channel"
					r.server.Deny(refused, true)
				})
				dials, dial := 0, r.world.Dialer(host(1))
				log := &lines{}
				c := must(rlock.Open(context.Background(), "redis://"+address, rlock.WithWatchdogTimeout(6*time.Second), rlock.WithLogger(slog.New(log)), rlock.WithDialer(
					func(ctx context.Context, network, addr string) (net.Conn, error) {
						if dials++; dials == 2 && refused == "a server" { // the subscription connection
							addr = elsewhere
						}
						return dial(ctx, network, addr)
					})))(r)
				defer c.Close()
				h := must(c.NewLock("orders").Lock(context.Background()))(r)
				r.pass(time.Minute)
				r.goesOn(h)
				if n := log.of("losses are noticed at renewals only"); n != 1 {
					t.Errorf("said %d times", n)
				}
				r.do("DEL", "orders")
				r.told(2*time.Second+atOnce, "by a renewal", h) // a third of the lease
			})
		})
	}
}

// A client without holds is not subscribed.
func TestNobodyListensForChangesWhenNothingIsHeld(t *testing.T) {
	inBubble(t, func(r *rig) {
		c := r.open()
		for range 2 {
			h := must(c.NewLock("orders").Lock(context.Background()))(r)
			for _, want := range []int{1, 0} {
				r.pass(5 * time.Second)
				r.at(func() {
					if all := r.server.Channels(host(1)); len(all) != want {
						t.Errorf("it listens to %q", all)
					}
				})
				_ = h.Unlock(context.Background())
			}
		}
	})
}

// Each node of a cluster sends invalidations for its own keys.
func TestHoldsOfAClusterAreToldByTheirNodes(t *testing.T) {
	for _, loss := range []string{"DEL", "FLUSHALL"} {
		t.Run(loss, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &rig{T: t, world: simnet.New(1)}
				var set *simredis.Cluster
				r.at(func() { set = simredis.NewCluster(r.world, 3, 0) })
				c := must(rlock.Open(context.Background(), set.URL(), neverRenewed, rlock.WithDialer(r.world.Dialer(host(1)))))(r)
				defer c.Close()
				holds := map[*simredis.Server]*rlock.Hold{}
				for i := 0; len(holds) < 3; i++ {
					name := fmt.Sprint("lock-", i)
					r.at(func() { r.server = set.Master(name) })
					if holds[r.server] == nil {
						holds[r.server] = must(c.NewLock(name).Lock(context.Background(), forLong))(r)
					}
				}
				r.pass(5 * time.Second)
				for s, h := range holds {
					r.goesOn(h)
					r.server = s
					r.do(strings.Fields(map[string]string{"DEL": "DEL " + h.Name(), "FLUSHALL": "FLUSHALL"}[loss])...)
					r.told(atOnce, loss, h)
				}
			})
		})
	}
}

// A fixed lease is read at the next master as soon as the client knows that one.
func TestFixedLeaseIsToldOfAFailoverThatLostIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t, world: simnet.New(1)}
		var set *simredis.Set
		var promoted time.Time
		r.at(func() {
			set = simredis.NewSet(r.world, 2, 3)
			set.Promoted = func(_, _ *simredis.Server) { promoted = time.Now() }
		})
		r.pass(15 * time.Second)
		log := &lines{}
		c := must(rlock.Open(context.Background(), set.URL(), rlock.WithReplicaSync(false), rlock.WithLogger(slog.New(log)), rlock.WithDialer(r.world.Dialer(host(1)))))(r)
		defer c.Close()
		lag := func(d time.Duration) {
			for _, s := range set.Servers[1:] {
				s.Lag(d)
			}
		}
		r.at(func() { lag(5 * time.Second) })
		h := must(c.NewLock("orders").Lock(context.Background(), forLong))(r)
		r.pass(3 * time.Second)
		r.goesOn(h)
		r.at(func() { set.Master().Kill(false); lag(0) })
		<-h.Done()
		if promoted.IsZero() || since(promoted) > 2*time.Second || !errors.Is(h.Err(), rlock.ErrLeaseLost) {
			t.Errorf("told %v after the failover: %v", since(promoted), h.Err())
		}
		if n := log.of("losses are noticed at renewals only"); n != 0 {
			t.Errorf("said %d times, of a connection that was about to end", n)
		}
	})
}
