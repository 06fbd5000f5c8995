package rlock

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

const forEver = time.Duration(math.MaxInt64)

func TestMaxHoldForEverIsRenewed(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.Start(t), WithWatchdogTimeout(2*soon))
	h := lockOf(t, c.NewLock("orders"), MaxHold(forEver))
	areRenewed(t, h)
}

// After a partial unlock the key has what the outer hold was promised.
func TestLeasesForEverOutliveNestedOnes(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for _, c := range []struct {
		name  string
		opts  []Option
		outer []AcquireOption
	}{
		{"the watchdog's", []Option{WithWatchdogTimeout(forEver)}, nil},
		{"a fixed one", nil, []AcquireOption{Lease(forEver)}},
		{"a fixed one, nearly", nil, []AcquireOption{Lease(forEver - time.Millisecond)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := open(t, s, c.opts...).NewLock(c.name)
			for range 100 {
				h := lockOf(t, l, c.outer...)
				mustUnlock(t, lockOf(t, l, As(h.Owner())))
				if ttl, err := l.RemainTTL(t.Context()); ttl < 100*365*24*time.Hour || err != nil {
					t.Fatalf("the key's TTL is %v, %v", ttl, err)
				}
				if err := h.Err(); err != nil {
					t.Fatal(err)
				}
				mustUnlock(t, h)
			}
		})
	}
}

func TestCommandTimeoutHasABound(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for _, d := range []time.Duration{forEver, forEver / 4, 24*time.Hour + 1} {
		if c, err := Open(t.Context(), s.URL(), WithCommandTimeout(d)); !errors.Is(err, ErrInvalidOption) {
			t.Errorf("%v: %v", d, err)
			if c != nil {
				c.Close()
			}
		}
	}
	mustUnlock(t, lockOf(t, open(t, s, WithCommandTimeout(24*time.Hour)).NewLock("orders")))
}

// The client may not kill its connection, so for one lease it repeats the undo of a lost acquire
// every second.
func TestUndoOfALeaseForEverIsRepeated(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "an undo is repeated each second")
	s := redistest.Start(t)
	admin := s.Dial(t)
	if _, err := admin.Do("ACL", "SETUSER", "default", "-client|kill"); err != nil {
		t.Fatal(err)
	}
	c := open(t, s, WithCommandTimeout(2*time.Second))
	l := c.NewLock("orders")
	mustUnlock(t, lockOf(t, l)) // the scripts are loaded
	s.Pause()
	if _, err := l.TryLock(t.Context(), Lease(forEver)); !errors.Is(err, ErrUncertain) {
		t.Error(err)
	}
	s.Resume()
	scripts := func() (n int) {
		text, err := redis.String(admin.Do("INFO", "commandstats"))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(text, "cmdstat_evalsha:calls=")
		_, _ = fmt.Sscan(strings.ReplaceAll(rest, ",", " "), &n)
		return n
	}
	before := scripts()
	becomes(t, "it is sent four times", func() bool { return scripts()-before >= 4 })
}
