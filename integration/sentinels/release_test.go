package sentinels_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// TestEachNameReleasedInAFailoverIsFreeBehindIt releases locks one after the other while the master is moved. The next one
// lacks what the former ran after it was left. Leases are far longer than the test: what the next master lacks stays there
// unless it is sent again.
func TestEachNameReleasedInAFailoverIsFreeBehindIt(t *testing.T) {
	t.Parallel()
	for form, waits := range map[string]bool{"nothing is acknowledged": false, "replicas are waited for": true} {
		t.Run(form, func(t *testing.T) { releasedIn(t, rlock.WithReplicaSync(waits)) })
	}
}

// releasedIn has locks released for some two seconds, and the master moved at the beginning of that.
func releasedIn(t *testing.T, opt rlock.Option) {
	const names, every = 120, 20 * time.Millisecond
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	c := open(t, set.URL(), opt, rlock.WithWatchdogTimeout(long))
	name := func(i int) string { return fmt.Sprint("released-", i) }
	var held []*rlock.Hold
	for i := range names {
		held = append(held, lock(t, c, name(i)))
	}
	former := set.Master()
	var failed atomic.Int32
	var under sync.WaitGroup
	for i, h := range held {
		if i == names/8 {
			under.Go(func() { set.Failover(set.Sentinels[0]) })
		}
		under.Go(func() {
			if h.Unlock(t.Context()) != nil {
				failed.Add(1)
			}
		})
		time.Sleep(every)
	}
	under.Wait()
	set.AwaitMaster(former)
	began := time.Now()
	other := open(t, set.URL(), rlock.WithReplicaSync(false))
	var stood atomic.Int32
	for i := range names {
		under.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), farOff)
			defer cancel()
			if err := other.NewLock(name(i)).Do(ctx, func(context.Context) error { return nil }); err != nil {
				stood.Add(1)
			}
		})
	}
	under.Wait()
	t.Logf("%d of %d releases failed; each name was entered %v after the next master was named", failed.Load(), names, time.Since(began))
	if n := stood.Load(); n > 0 {
		t.Errorf("%d of %d names stand", n, names)
	}
}

// TestReleaseThatTheNextMasterLacksIsSentAgain has the replicas keep what they had before the release. One of them becomes
// the master.
func TestReleaseThatTheNextMasterLacksIsSentAgain(t *testing.T) {
	t.Parallel()
	for form, row := range map[string]struct {
		waits bool
		lock  func(*rlock.Client, string) *rlock.Lock
		shown bool
	}{
		"of an owner that is used once": {false, (*rlock.Client).NewLock, false},
		"of an owner that others know":  {true, (*rlock.Client).NewLock, true},
		"of a spin lock":                {false, (*rlock.Client).NewSpinLock, false},
		"of a fenced lock":              {false, (*rlock.Client).NewFencedLock, false},
	} {
		t.Run(form, func(t *testing.T) {
			set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
			c := open(t, set.URL(), rlock.WithReplicaSync(row.waits), rlock.WithWatchdogTimeout(long))
			h, err := row.lock(c, "orders").Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if row.shown {
				_ = h.Owner().String()
			}
			next := lacks(t, set, "orders", func() error { return h.Unlock(t.Context()) })
			ctx, cancel := context.WithTimeout(t.Context(), farOff)
			defer cancel()
			waiter := open(t, set.URL(), rlock.WithReplicaSync(false))
			if err := waiter.NewLock("orders").Do(ctx, func(context.Context) error { return nil }); err != nil {
				t.Error(err)
			}
			if n, err := redis.Int(next.Dial(t).Do("EXISTS", "orders")); n != 0 || err != nil {
				t.Errorf("it is there: %d, %v", n, err)
			}
		})
	}
}

// TestReleaseOfOneHoldOfSeveralIsSentAgain leaves the other hold, and no more than that.
func TestReleaseOfOneHoldOfSeveralIsSentAgain(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	c := open(t, set.URL(), rlock.WithReplicaSync(false), rlock.WithWatchdogTimeout(long))
	l := c.NewLock("orders")
	h := lock(t, c, "orders")
	inner, err := l.Lock(t.Context(), rlock.As(h.Owner()))
	if err != nil {
		t.Fatal(err)
	}
	next := lacks(t, set, "orders", func() error { return inner.Unlock(t.Context()) })
	conn := next.Dial(t)
	becomes(t, "held once", func() bool {
		counts, err := redis.Ints(conn.Do("HVALS", "orders"))
		return err == nil && len(counts) == 1 && counts[0] == 1
	})
	if err := h.Err(); err != nil {
		t.Errorf("the other hold: %v", err)
	}
	if err := h.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	if n, err := redis.Int(conn.Do("EXISTS", "orders")); n != 0 || err != nil {
		t.Errorf("it is there: %d, %v", n, err)
	}
}

// lacks moves the master to one that lacks what release does: the replicas get back what they had of the name, and lack
// all else. One of them is silent meanwhile, so that not all acknowledge the release.
func lacks(t *testing.T, set *redistest.SentinelSet, name string, release func() error) (next *redistest.Server) {
	t.Helper()
	former := set.Master()
	had := map[*redistest.Server]string{}
	var silent *redistest.Server
	for _, n := range set.Nodes {
		if n == former {
			continue
		}
		conn := n.Dial(t)
		becomes(t, "on each replica", func() bool {
			dump, err := redis.String(conn.Do("DUMP", name))
			had[n] = dump
			return err == nil
		})
		if _, err := conn.Do("CONFIG", "SET", "replica-read-only", "no"); err != nil {
			t.Fatal(err)
		}
		silent = n
	}
	silent.Pause()
	err := release()
	silent.Resume()
	if err != nil {
		t.Fatal(err)
	}
	conn := former.Dial(t)
	if _, err := conn.Do("SET", "behind it", 1); err != nil {
		t.Fatal(err)
	}
	becomes(t, "the replicas have what it did", func() bool {
		n, err := redis.Int(conn.Do("WAIT", len(had), 100))
		return err == nil && n == len(had)
	})
	for n, dump := range had {
		conn := n.Dial(t)
		if _, err := conn.Do("FLUSHALL"); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Do("RESTORE", name, long.Milliseconds(), dump); err != nil {
			t.Fatal(err)
		}
	}
	set.AwaitSettled()
	set.Failover(set.Sentinels[0])
	return set.AwaitMaster(former)
}

// TestBusyNamesGoOnBehindAFailover: somebody holds them at each moment, and so when the next master is promoted. It is
// released at the former one, and many hundreds of others after it.
func TestBusyNamesGoOnBehindAFailover(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	ctx, stop := context.WithCancel(t.Context())
	var under sync.WaitGroup
	var entered [4]atomic.Int64
	for range 2 {
		c := open(t, set.URL(), rlock.WithReplicaSync(false), rlock.WithWatchdogTimeout(long))
		for i := range 4 * len(entered) {
			of := &entered[i%len(entered)]
			l := c.NewLock(fmt.Sprint("busy-", i%len(entered)))
			under.Go(func() {
				for ctx.Err() == nil {
					// What the next master lacks is lost: no error here says anything.
					_ = l.Do(ctx, func(context.Context) error {
						of.Add(1)
						time.Sleep(time.Millisecond)
						return nil
					})
				}
			})
		}
	}
	for i := range entered {
		becomes(t, "entered before", func() bool { return entered[i].Load() > 100 })
	}
	former := set.Master()
	set.Failover(set.Sentinels[0])
	set.AwaitMaster(former)
	for i := range entered {
		before := entered[i].Load()
		becomes(t, fmt.Sprintf("name %d is entered again", i), func() bool { return entered[i].Load() > before+100 })
	}
	stop()
	under.Wait()
}
