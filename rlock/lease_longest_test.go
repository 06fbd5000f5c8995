package rlock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"sync"
	"sync/atomic"
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
	var conn atomic.Pointer[countedConn]
	c := open(t, s, WithCommandTimeout(10*soon), WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		dialled, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		conn.Store(&countedConn{Conn: dialled})
		return conn.Load(), nil
	}))
	l := c.NewLock("orders")
	mustUnlock(t, lockOf(t, l)) // the scripts are loaded
	s.Pause()
	first := conn.Load()
	wrote := first.writes.Load()
	var caller sync.WaitGroup
	defer caller.Wait()
	caller.Go(func() {
		h, err := l.TryLock(t.Context(), Lease(forEver))
		if err == nil { // its next attempt got the lock, after the first undo
			err = h.Unlock(t.Context()) // so that the client reads nothing for it
		}
		if err != nil {
			t.Error(err)
		}
	})
	becomes(t, "the acquire is written", func() bool { return first.writes.Load() > wrote })
	first.Close()
	s.Resume()
	caller.Wait()
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
	becomes(t, "it is sent twice more", func() bool { return scripts()-before >= 2 })
}

// countedConn counts the writes to a connection.
type countedConn struct {
	net.Conn
	writes atomic.Int32
}

func (c *countedConn) Write(b []byte) (int, error) { c.writes.Add(1); return c.Conn.Write(b) }
