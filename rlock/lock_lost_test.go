package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// dying is a master that is killed with acquires in flight, which its successor has.
type dying struct {
	master   *redistest.Server
	replicas []*redistest.Server // one of them is the next master
	name     func(i int) string  // the i-th lock name of this master
}

// lost is the outcome of one acquire.
type lost struct {
	name  string
	tries bool // by TryLock
	h     *rlock.Hold
	err   error
}

// short is a command timeout that is shorter than any failover.
const short = 1500 * time.Millisecond

// acquires runs n acquires on the master, half of them by TryLock, and kills it before it replies:
// each waits for a paused replica. The replicas get afterwards what was sent to them.
func (d *dying) acquires(t *testing.T, url string, n int) []*lost {
	t.Helper()
	c := openWith(t, url, rlock.WithWatchdogTimeout(10*time.Minute), rlock.WithCommandTimeout(short))
	becomes(t, "it is connected, and knows the replicas", func() bool {
		return c.NewLock(d.name(0)).Do(t.Context(), func(context.Context) error { return nil }) == nil
	})
	conn := d.master.Dial(t)
	before := topologytest.Calls(t, conn, "evalsha")
	for _, r := range d.replicas {
		r.Pause()
	}
	var all []*lost
	var under sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), 6*soonEnough)
	t.Cleanup(cancel)
	for i := range n {
		l := &lost{name: d.name(1 + i), tries: i%2 == 0}
		all = append(all, l)
		under.Go(func() {
			if l.tries {
				l.h, l.err = c.NewLock(l.name).TryLock(ctx)
			} else {
				l.h, l.err = c.NewLock(l.name).Lock(ctx)
			}
		})
	}
	ran := 0
	// The first acquire waits alone; the others follow in one batch.
	becomes(t, "most have run", func() bool {
		ran = topologytest.Calls(t, conn, "evalsha") - before
		return ran > n/2
	})
	d.master.Kill()
	for _, r := range d.replicas {
		r.Resume()
	}
	has := 0
	for _, r := range d.replicas {
		becomes(t, "a replica has what was sent to it", func() bool {
			conn := r.Dial(t)
			defer conn.Close()
			n, err := redis.Int(conn.Do("DBSIZE"))
			has = n
			return err == nil && n > 0
		})
	}
	t.Logf("%d acquires had run when the master was killed, and a replica has %d of them", ran, has)
	under.Wait()
	return all
}

// settled checks that the next master has what the callers were granted, and that all else is
// undone there. On a busy machine Sentinels may make yet another master.
func settled(t *testing.T, all []*lost, next func() redis.Conn) {
	t.Helper()
	granted, uncertain := 0, 0
	for _, l := range all {
		if l.err == nil {
			granted++
			conn := next()
			fields, err := redis.StringMap(conn.Do("HGETALL", l.name))
			conn.Close()
			if owner := l.h.Owner().String(); err != nil || len(fields) != 1 || fields[owner] != "1" || l.h.Err() != nil {
				t.Errorf("%s is held by %v, %v; granted to %s: %v", l.name, fields, err, owner, l.h.Err())
			}
			continue
		}
		if errors.Is(l.err, rlock.ErrUncertain) {
			uncertain++
		}
		if errors.Is(l.err, rlock.ErrLocked) {
			t.Errorf("%s: %v", l.name, l.err)
		}
		becomes(t, fmt.Sprintf("%s is given up, of which was said: %v", l.name, l.err), func() bool {
			conn := next()
			defer conn.Close()
			n, err := redis.Int(conn.Do("EXISTS", l.name))
			return err == nil && n == 0
		})
	}
	t.Logf("%d of %d are granted, %d uncertain", granted, len(all), uncertain)
	if uncertain < len(all)/4 {
		t.Error("few were told that it is uncertain: nothing was shown")
	}
}

// A master that is dead for good gives no kill barrier. An acquire without a reply that its replica
// has is undone there, long before the lease ends.
func TestAcquiresThatADyingMasterDidNotAnswerAreUndoneAtTheNext(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	beside.Run(t, "cluster", func(t *testing.T) {
		s := topologytest.StartReplicated(t, 1, 1, 1)
		d := dying{s.Servers[0], []*redistest.Server{s.Servers[s.Replica(0)]}, func(i int) string { return nameOf(0, i) }}
		all := d.acquires(t, s.ClusterURL(), 100)
		s.AwaitMaster(s.Replica(0))
		settled(t, all, func() redis.Conn { return s.Servers[s.Replica(0)].Dial(t) })
	})
	beside.Run(t, "sentinels", func(t *testing.T) {
		s := redistest.StartSentinels(t, redistest.SentinelPasswords{})
		d := dying{s.Nodes[0], s.Nodes[1:], func(i int) string { return fmt.Sprint("lock-", i) }}
		s.AllowFailover()
		all := d.acquires(t, s.URL(), 100)
		settled(t, all, func() (next redis.Conn) {
			redistest.Settles(t, "there is another master", func() bool {
				for _, n := range s.Nodes[1:] {
					next = n.Dial(t)
					if role, err := redis.Values(next.Do("ROLE")); err == nil && string(role[0].([]byte)) == "master" {
						return true
					}
					next.Close()
				}
				return false
			})
			return next
		})
	})
}
