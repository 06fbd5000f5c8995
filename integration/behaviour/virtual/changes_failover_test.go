package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// set is several servers, one of which fails.
type set struct {
	url     string
	servers []*simredis.Server
	master  func(key string) *simredis.Server
	planned func() any // nil: there is no such failover
}

// changes are calls of one client, each on the object of a name, which another client sets up.
var changes = map[string]struct {
	set  func(c *rlock.Client, name string) (bool, error)
	call func(c, other *rlock.Client, name string) error
}{
	"an unlock": {nil, func(c, _ *rlock.Client, name string) error {
		h, err := c.NewLock(name).TryLock(context.Background())
		if err == nil {
			err = h.Unlock(context.Background())
		}
		return err
	}},
	"a fair unlock":     {nil, unlocked(fair)},
	"a reader's unlock": {nil, unlocked(reads)},
	"a writer's unlock": {nil, unlocked(writes)},
	"a fenced unlock":   {nil, unlocked((*rlock.Client).NewFencedLock)},
	"a spin unlock":     {nil, unlocked((*rlock.Client).NewSpinLock)},
	"an unlock that leaves the lock taken": {nil, func(c, _ *rlock.Client, name string) error {
		return c.NewLock(name).Do(context.Background(), nothing, rlock.AtLeast(20*time.Second))
	}},
	"a release of permits": {func(c *rlock.Client, name string) (bool, error) {
		return c.NewPermitSemaphore(name).TrySetPermits(context.Background(), 3)
	}, func(c, _ *rlock.Client, name string) error {
		p, err := c.NewPermitSemaphore(name).TryAcquire(context.Background(), 2)
		if err == nil {
			err = p.Release(context.Background())
		}
		return err
	}},
	"a semaphore's acquire": {setPermits, func(c, _ *rlock.Client, name string) error {
		return c.NewSemaphore(name).Acquire(context.Background(), 1)
	}},
	"a semaphore's release": {setPermits, func(c, _ *rlock.Client, name string) error {
		return c.NewSemaphore(name).Release(context.Background(), 1)
	}},
	"a count-down": {func(c *rlock.Client, name string) (bool, error) {
		return c.NewCountDownLatch(name).TrySetCount(context.Background(), 3)
	}, func(c, _ *rlock.Client, name string) error {
		return c.NewCountDownLatch(name).CountDown(context.Background())
	}},
	"permits by their ids": {func(c *rlock.Client, name string) (bool, error) {
		return c.NewPermitSemaphore(name).TrySetPermits(context.Background(), 3)
	}, func(c, other *rlock.Client, name string) error {
		p, err := other.NewPermitSemaphore(name).TryAcquire(context.Background(), 1, rlock.Lease(time.Hour))
		if err == nil {
			err = c.NewPermitSemaphore(name).ReleaseIDs(context.Background(), p.IDs()...)
		}
		return err
	}},
	"a waiter's leave": {nil, func(c, other *rlock.Client, name string) error {
		h, err := other.NewFairLock(name).TryLock(context.Background())
		if err != nil {
			return err
		}
		if _, err = c.NewFairLock(name).TryLockFor(context.Background(), 100*time.Millisecond); err == nil {
			return fmt.Errorf("two hold the fair lock %s", name)
		}
		return h.Unlock(context.Background())
	}},
}

// unlocked is the call that acquires and unlocks a lock of a kind.
func unlocked(of func(c *rlock.Client, name string) *rlock.Lock) func(c, _ *rlock.Client, name string) error {
	return func(c, _ *rlock.Client, name string) error { return of(c, name).Do(context.Background(), nothing) }
}

func setPermits(c *rlock.Client, name string) (bool, error) {
	return c.NewSemaphore(name).TrySetPermits(context.Background(), 3)
}

// A failover is reported several times: by Sentinels or by a cluster's map, and by each connection that ends. What a client repeats
// after it, it repeats once.
func TestEachChangeIsRepeatedOnceAFailover(t *testing.T) {
	for where, make := range map[string]func(w *simnet.World) set{
		"Sentinels": func(w *simnet.World) set {
			s := simredis.NewSet(w, 2, 3)
			return set{s.URL(), s.Servers, func(string) *simredis.Server { return s.Master() }, s.Failover}
		},
		"a cluster": func(w *simnet.World) set {
			c := simredis.NewCluster(w, 3, 1)
			return set{c.URL(), c.Servers, c.Master, nil}
		},
	} {
		for how, fail := range map[string]func(s set, master *simredis.Server){
			"a master dies":         func(_ set, m *simredis.Server) { m.Kill(false) },
			"a master falls silent": func(_ set, m *simredis.Server) { m.Kill(true) },
			"planned":               func(s set, _ *simredis.Server) { s.planned() },
		} {
			if where == "a cluster" && how == "planned" {
				continue
			}
			t.Run(where+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { repeatedOnce(&rig{T: t, world: simnet.New(1)}, make, fail) })
			})
		}
	}
}

func repeatedOnce(r *rig, make func(*simnet.World) set, fail func(set, *simredis.Server)) {
	var s set
	r.at(func() { s = make(r.world) })
	r.pass(15 * time.Second)
	open := func(client int) *rlock.Client {
		c := must(rlock.Open(context.Background(), s.url, rlock.WithDialer(r.world.Dialer(host(client)))))(r)
		r.Cleanup(func() { _ = c.Close() })
		return c
	}
	c, other := open(1), open(2)
	var master *simredis.Server
	r.at(func() { master = s.master("0") })
	named := map[string]string{} // the names of the changes' objects, all on one server
	for what, change := range changes {
		name := ""
		for i := 0; name == ""; i++ {
			r.at(func() {
				if n := fmt.Sprintf("%s %d", strings.ReplaceAll(what, " ", "-"), i); s.master(n) == master {
					name = n
				}
			})
		}
		named[what] = name
		if change.set != nil {
			must(change.set(other, name))(r)
		}
		must(0, change.call(c, other, name))(r)
	}
	r.pass(time.Second)
	ran := map[string][]string{}
	from := time.Now()
	r.at(func() {
		for _, server := range s.servers {
			server.Ran = func(at *simredis.Server, client string, args []string, reply any) {
				if _, refused := reply.(simredis.Error); refused || args[0] != "EVALSHA" || client != host(1) {
					return
				}
				for what, name := range named {
					if strings.Contains(strings.Join(args, "\n"), name) {
						ran[what] = append(ran[what], fmt.Sprintf("%v at %s: %q: %v", since(from), at.Addr, args, reply))
					}
				}
			}
		}
		fail(s, master)
	})
	for began := time.Now(); since(began) < 40*time.Second; r.pass(100 * time.Millisecond) { // a client that is not in use learns of it too late
		_, _ = c.NewLock(named["an unlock"]).IsLocked(context.Background()) // no server may answer
	}
	r.at(func() {
		for what := range changes {
			if len(ran[what]) != 1 {
				r.Errorf("%s was repeated %d times: %s", what, len(ran[what]), strings.Join(ran[what], "\n"))
			}
		}
	})
}

// A server stops being the master and is the master again, with another's data. No connection ended meanwhile, and one of the
// client's two had nothing to write. Its unlock, which was answered there, is repeated.
func TestUnlockIsRepeatedThoughItsConnectionLived(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		var other *simredis.Server
		r.at(func() {
			other = simredis.New(r.world, "10.0.0.2:6379")
			other.SlaveOf(r.server)
		})
		r.pass(2 * time.Second)
		c := r.open(rlock.WithReplicaSync(true))
		h := must(c.NewLock("orders").TryLock(ctx))(r)
		var owner string
		r.at(func() { owner = r.server.Fields("orders")[0] })
		must(0, h.Unlock(ctx))(r)
		order := func(all ...string) {
			r.at(func() {
				for _, args := range all {
					r.server.Session("10.9.0.1").Do(strings.Fields(args)...)
				}
			})
			r.pass(time.Second)
		}
		order("REPLICAOF 10.0.0.2 6379")
		if _, err := c.NewLock("others").TryLock(ctx); err == nil {
			t.Error("a replica granted a lock")
		}
		order("REPLICAOF NO ONE", "HSET orders "+owner+" 1")
		must(0, must(c.NewLock("others").TryLock(ctx))(r).Unlock(ctx))(r)
		r.pass(5 * time.Second)
		r.at(func() {
			if left := r.server.Keys(); len(left) > 0 {
				t.Errorf("%q are left", left)
			}
		})
	})
}

// A busy semaphore behind Sentinels, with breaks each second while calls are in flight. No client has more receipts of it than some
// hundreds. They go within 20 s of the last call, and when the clients are closed.
func TestReceiptsOfABusySemaphoreBehindSentinelsGo(t *testing.T) {
	const clients, callers, most, breaks = 2, 2, 350, 12
	ctx := context.Background()
	synctest.Test(t, func(t *testing.T) {
		s := &scene{rig: &rig{T: t, world: simnet.New(1)}}
		s.at(func() { sentinelsWith(2)(s) })
		s.server = s.former
		s.pass(15 * time.Second)
		open := func(i int) *rlock.Client {
			c := must(rlock.Open(ctx, s.url, rlock.WithDialer(s.world.Dialer(host(i)))))(s.rig)
			t.Cleanup(func() { _ = c.Close() })
			return c
		}
		var all []*rlock.Client
		for i := range clients {
			all = append(all, open(1+i))
		}
		must(all[0].NewSemaphore("seats").TrySetPermits(ctx, clients*callers-2))(s.rig)
		var pairs, uncertain atomic.Int64
		peak := 0
		busy := func(breaks int) {
			var over atomic.Bool
			var loops sync.WaitGroup
			for _, c := range all {
				for range callers {
					loops.Go(func() {
						for sem := c.NewSemaphore("seats"); !over.Load(); pairs.Add(1) {
							err := sem.Acquire(ctx, 1)
							if err == nil {
								err = sem.Release(ctx, 1)
							}
							if errors.Is(err, rlock.ErrUncertain) {
								uncertain.Add(1)
							} else if err != nil {
								t.Error(err)
							}
							<-time.After(3 * time.Millisecond)
						}
					})
				}
			}
			for range breaks {
				for range 10 {
					s.pass(100 * time.Millisecond)
					peak = max(peak, len(s.receipts()))
				}
				s.do("CLIENT", "KILL", "TYPE", "normal")
				s.do("CLIENT", "KILL", "TYPE", "pubsub")
			}
			over.Store(true)
			loops.Wait()
		}
		busy(breaks)
		during := peak
		s.pass(20 * time.Second)
		idle := len(s.receipts())
		busy(3)
		for _, c := range all {
			_ = c.Close()
		}
		closed := len(s.receipts())
		t.Logf("%d pairs, %d uncertain: receipts of %d clients during %d breaks, 20 s after, and after Close: %d, %d, %d", pairs.Load(), uncertain.Load(), clients, breaks, during, idle, closed)
		if during > clients*most || during == 0 || idle > 0 || closed > 0 {
			t.Errorf("%d receipts, then %d and %d; want at most %d, then none", during, idle, closed, clients*most)
		}
		if n, off := must(open(9).NewSemaphore("seats").Available(ctx))(s.rig), int(uncertain.Load()); n > clients*callers-2+off || n < clients*callers-2-off {
			t.Errorf("%d permits of %d, with %d uncertain calls", n, clients*callers-2, off)
		}
	})
}

// A reader's hold has a lease of its own, and others keep the lock in which it counts. Its release is repeated though that lease is over.
func TestReadersUnlockIsRepeatedBeyondItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		r := &rig{T: t, world: simnet.New(1)}
		var set *simredis.Set
		r.at(func() { set = simredis.NewSet(r.world, 1, 3) })
		r.pass(15 * time.Second)
		c := must(rlock.Open(ctx, set.URL(), rlock.WithReplicaSync(false), rlock.WithDialer(r.world.Dialer(host(1)))))(r)
		defer c.Close()
		l := c.NewReadWriteLock("orders").ReadLock()
		long := must(l.TryLock(ctx))(r)
		brief := must(l.TryLock(ctx, rlock.Lease(3*time.Second)))(r)
		r.pass(time.Second)
		r.at(func() {
			for _, s := range set.Servers[1:] {
				s.Lag(20 * time.Second)
			}
		})
		must(0, brief.Unlock(ctx))(r)
		r.pass(4 * time.Second)
		r.at(func() { set.Master().Kill(false) })
		r.pass(8 * time.Second)
		r.at(func() {
			if m := set.Master(); m == set.Servers[0] {
				t.Error("there was no failover")
			} else if fields := m.Fields("orders"); len(fields) != 2 || fields[1] != long.Owner().LogValue().String() {
				t.Errorf("the next master has %q", fields)
			}
		})
		must(0, long.Unlock(ctx))(r)
	})
}
