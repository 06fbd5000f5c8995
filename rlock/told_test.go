package rlock_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// told checks that h ends as lost, long before a renewal or the end of its lease would end it.
func told(t *testing.T, what string, h *rlock.Hold) {
	t.Helper()
	becomes(t, what+": it is told", func() bool { return h.Err() != nil })
	if err := h.Err(); !errors.Is(err, rlock.ErrLeaseLost) {
		t.Errorf("%s: it ended with %v", what, err)
	}
}

// watches waits until a server tracks at least that many keys. Redis counts all KEYS of a script that reads one.
func watches(t *testing.T, c redis.Conn, keys int) {
	t.Helper()
	becomes(t, fmt.Sprint(keys, " keys that are watched"), func() bool {
		info, err := redis.String(c.Do("INFO", "stats"))
		_, n, _ := strings.Cut(info, "tracking_total_keys:")
		n, _, _ = strings.Cut(n, "\r")
		got, _ := strconv.Atoi(n)
		return err == nil && got >= keys
	})
}

// neverRenewed makes renewals so rare that only an invalidation can show a loss.
var neverRenewed = rlock.WithWatchdogTimeout(10 * time.Minute)

// What a server tells, whichever command of another client takes a lock away.
func TestHoldIsToldOfEachLoss(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := openWith(t, s.URL(), neverRenewed)
	losses := []string{"DEL", "PEXPIRE", "HDEL", "RENAME", "EVAL", "FLUSHALL"} // the last one takes all that is left
	var all [][2]*rlock.Hold
	for _, loss := range losses {
		var both [2]*rlock.Hold
		for i, opts := range [][]rlock.AcquireOption{nil, {rlock.Lease(10 * time.Minute)}} {
			both[i] = lock(t, c, fmt.Sprint(loss, i), opts...)
		}
		all = append(all, both)
	}
	watches(t, conn, 2*len(losses))
	for at, loss := range losses {
		for i, h := range all[at] {
			args := map[string][]any{
				"DEL": {h.Name()}, "PEXPIRE": {h.Name(), 1}, "HDEL": {h.Name(), h.Owner().String()}, "RENAME": {h.Name(), "others"},
				"EVAL": {"redis.call('del', KEYS[1]) redis.call('hset', KEYS[1], 'another', 1)", 1, h.Name()},
			}[loss]
			if err := all[len(all)-1][i].Err(); err != nil {
				t.Error("before ", loss, ":", err)
			}
			if i == 0 || loss != "FLUSHALL" {
				if _, err := conn.Do(loss, args...); err != nil {
					t.Fatal(loss, err)
				}
			}
			told(t, fmt.Sprint(loss, ", fixed ", i == 1), h)
			if loss == "FLUSHALL" {
				told(t, "FLUSHALL, fixed", all[at][1])
				break
			}
		}
	}
}

// A tracking table that is too small costs reads, but no hold. Redis sends a connection no invalidation for keys that
// its own command evicted. So a renewal, or the read every third of the lease, has to find a loss.
func TestOverflowOfTheTrackingTableEndsNothing(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "holds are read when they are some seconds old")
	s := redistest.Start(t, "--tracking-table-max-keys", "2")
	conn := s.Dial(t)
	c := openWith(t, s.URL(), rlock.WithWatchdogTimeout(9*time.Second))
	var renewed, fixed []*rlock.Hold // those are read as often
	for i := range 4 {
		renewed = append(renewed, lock(t, c, fmt.Sprint("renewed-", i)))
		fixed = append(fixed, lock(t, c, fmt.Sprint("fixed-", i), rlock.Lease(10*time.Minute)))
	}
	areRenewed(t, renewed...)
	for _, h := range append(renewed, fixed...) {
		if err := h.Err(); err != nil {
			t.Error(h.Name(), err)
		}
		if _, err := conn.Do("DEL", h.Name()); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range append(renewed, fixed...) {
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
	watches(t, conn, 1)
	if _, err := conn.Do("DEL", "orders"); err != nil {
		t.Fatal(err)
	}
	told(t, "DEL, with a pool", h)
	if n := p.ActiveCount(); n != 2 {
		t.Fatalf("the client has %d connections", n)
	}
	c.Close()
	if n := p.ActiveCount(); n != 0 {
		t.Errorf("%d connections are left", n)
	}
}
