package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// anyHold is a hold of any kind.
type anyHold interface {
	Done() <-chan struct{}
	Err() error
}

// kindsOfHolds are the kinds that have holds. Each acquires a name, and has the key that shows who holds it.
var kindsOfHolds = []struct {
	name string
	key  func(name string) string
	lock func(ctx context.Context, c *rlock.Client, name string, opts ...rlock.PermitOption) (anyHold, error)
}{
	{"plain", same, by((*rlock.Client).NewLock)},
	{"spin", same, by((*rlock.Client).NewSpinLock)},
	{"fair", same, by((*rlock.Client).NewFairLock)},
	{"fenced", same, by((*rlock.Client).NewFencedLock)},
	{"non-reentrant", same, by((*rlock.Client).NewNonReentrantLock)},
	{"read", same, by(func(c *rlock.Client, name string) *rlock.Lock { return c.NewReadWriteLock(name).ReadLock() })},
	{"write", same, by(func(c *rlock.Client, name string) *rlock.Lock { return c.NewReadWriteLock(name).WriteLock() })},
	{"permits", codec.PermitTimes, func(ctx context.Context, c *rlock.Client, name string, opts ...rlock.PermitOption) (anyHold, error) {
		s := c.NewPermitSemaphore(name)
		if _, err := s.TrySetPermits(ctx, 5); err != nil {
			return nil, err
		}
		return s.Acquire(ctx, 2, opts...)
	}},
}

func same(name string) string { return name }

func by(make func(*rlock.Client, string) *rlock.Lock) func(context.Context, *rlock.Client, string, ...rlock.PermitOption) (anyHold, error) {
	return func(ctx context.Context, c *rlock.Client, name string, opts ...rlock.PermitOption) (anyHold, error) {
		var all []rlock.AcquireOption
		for _, o := range opts {
			all = append(all, o)
		}
		return make(c, name).Lock(ctx, all...)
	}
}

// told checks that h ends as lost, long before a renewal or the end of its lease would end it.
func told(t *testing.T, what string, h anyHold) {
	t.Helper()
	began := time.Now()
	select {
	case <-h.Done():
		if err := h.Err(); !errors.Is(err, rlock.ErrLeaseLost) {
			t.Errorf("%s: it ended with %v", what, err)
		}
		t.Logf("%s: told after %v", what, time.Since(began))
	case <-time.After(soonEnough):
		t.Errorf("%s: it was not told", what)
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
	time.Sleep(250 * time.Millisecond) // then the client has the reply, and plans no further read
}

// deletedUnder deletes a name once the server tracks it, and checks that its holds end.
func deletedUnder(t *testing.T, conn redis.Conn, name, when string, holds ...anyHold) {
	t.Helper()
	watches(t, conn, 1)
	conn.Do("DEL", name)
	for _, h := range holds {
		told(t, "DEL "+when, h)
	}
}

// neverRenewed makes renewals so rare that only an invalidation can show a loss.
var neverRenewed = rlock.WithWatchdogTimeout(10 * time.Minute)

func TestHoldOfEachKindIsToldOfItsLossAtOnce(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "some seconds pass")
	s := redistest.Start(t)
	conn := s.Dial(t)
	c, other := openWith(t, s.URL(), neverRenewed), openWith(t, s.URL())
	for _, fixed := range []bool{false, true} {
		var all []anyHold
		for _, k := range kindsOfHolds {
			var opts []rlock.PermitOption
			if fixed {
				opts = append(opts, rlock.Lease(10*time.Minute))
			}
			h, err := k.lock(t.Context(), c, k.name, opts...)
			if err != nil {
				t.Fatal(k.name, err)
			}
			all = append(all, h)
		}
		watches(t, conn, len(all))
		for i, k := range kindsOfHolds[1:] {
			if err := all[i+1].Err(); err != nil {
				t.Errorf("before DEL of %s, fixed %v: %v", k.name, fixed, err)
			}
			if _, err := conn.Do("DEL", k.key(k.name)); err != nil {
				t.Fatal(err)
			}
			told(t, fmt.Sprint("DEL of ", k.name, ", fixed ", fixed), all[i+1])
		}
		if err := all[0].Err(); err != nil {
			t.Error("the one that is still held:", err)
		}
		if was, err := other.NewLock(kindsOfHolds[0].name).ForceUnlock(t.Context()); !was || err != nil {
			t.Error(was, err)
		}
		told(t, "ForceUnlock elsewhere", all[0])
		conn.Do("FLUSHALL")
	}
}

func TestHoldIsToldOfEachLoss(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := openWith(t, s.URL(), neverRenewed)
	losses := []string{"PEXPIRE", "HDEL", "RENAME", "EVAL", "FLUSHALL"} // the last one takes all that is left
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
				"PEXPIRE": {h.Name(), 1}, "HDEL": {h.Name(), h.Owner().String()}, "RENAME": {h.Name(), "others"},
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

// A key that is written again and again costs few reads, and ends no hold.
func TestFalseAlarmsEndNothingAndAreRateLimited(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "looks are counted for seconds")
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := openWith(t, s.URL(), neverRenewed)
	h := lock(t, c, "orders")
	watches(t, conn, 1)
	before, began, writes := topologytest.Calls(t, conn, "evalsha"), time.Now(), 0
	for ; time.Since(began) < 2*time.Second; writes++ {
		if _, err := conn.Do("HINCRBY", "orders", "another", 1); err != nil {
			t.Fatal(err)
		}
	}
	looks := topologytest.Calls(t, conn, "evalsha") - before
	if most := int(time.Since(began)/(100*time.Millisecond)) + 2; looks < 2 || looks > most {
		t.Errorf("%d looks for %d writes, want 2 to %d", looks, writes, most)
	}
	t.Logf("%d looks for %d writes in %v", looks, writes, time.Since(began))
	if err := h.Err(); err != nil {
		t.Error(err)
	}
	deletedUnder(t, conn, "orders", "after false alarms", h)
}

// The client reads the key again after its owner's own writes: a nested hold, its release, an Extend.
func TestHoldIsToldAfterItsOwnersOwnWrites(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "waits for renewals")
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := openWith(t, s.URL(), neverRenewed)
	l := c.NewLock("orders")
	h := lock(t, c, "orders", rlock.Lease(10*time.Minute))
	for what, write := range map[string]func() error{
		"Extend": func() error { return h.Extend(t.Context(), 20*time.Minute) },
		"nested": func() error {
			inner, err := l.Lock(t.Context(), rlock.As(h.Owner()))
			if err == nil {
				err = inner.Unlock(t.Context())
			}
			return err
		},
	} {
		watches(t, conn, 1)
		if err := write(); err != nil {
			t.Fatal(what, err)
		}
	}
	deletedUnder(t, conn, "orders", "after own writes", h)
}

// The server sends a client no invalidation for the client's own writes, nor for later changes. So after another
// hold's write the client reads the key again for the remaining holds. That also finds a loss in between.
func TestHoldIsToldThoughAnotherOfItsClientCameAndWent(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "holds are read when they are some seconds old")
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := openWith(t, s.URL(), neverRenewed)
	all := map[string][]*rlock.Hold{"at once": nil, "later": nil}
	for name := range all {
		for range 3 {
			all[name] = append(all[name], held(t, c.NewReadWriteLock(name).ReadLock()))
		}
	}
	time.Sleep(5 * time.Second) // all are tracked
	for name := range all {
		if err := held(t, c.NewReadWriteLock(name).ReadLock()).Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	conn.Do("DEL", "at once")
	time.Sleep(2 * time.Second) // the other is read again
	conn.Do("DEL", "later")
	for name, holds := range all {
		for _, h := range holds {
			told(t, "DEL after another hold, "+name, h)
		}
	}
}

// An owner that both writes and reads loses both holds.
func TestHoldsOfTwoKindsAreBothTold(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := openWith(t, s.URL(), neverRenewed)
	rw := c.NewReadWriteLock("doc")
	write := held(t, rw.WriteLock())
	read, err := rw.ReadLock().Lock(t.Context(), rlock.As(write.Owner()))
	if err != nil {
		t.Fatal(err)
	}
	deletedUnder(t, conn, "doc", "of both kinds", write, read)
}
