package rlock

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// hanging is a pool whose Dial takes no context and returns when the test lets it.
type hanging struct {
	redis.Pool
	gate     chan struct{} // dials continue once it is closed
	dials    atomic.Int32
	underWay atomic.Int32
}

func hangingPool(t *testing.T, s *redistest.Server) *hanging {
	h := &hanging{gate: make(chan struct{})}
	h.MaxIdle = 4
	h.Dial = func() (redis.Conn, error) {
		h.dials.Add(1)
		h.underWay.Add(1)
		defer h.underWay.Add(-1)
		<-h.gate
		return redis.Dial("tcp", s.Addr(), redis.DialReadTimeout(soon), redis.DialWriteTimeout(soon))
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func becomes(t testing.TB, what string, is func() bool) { t.Helper(); redistest.Becomes(t, what, is) }

// areRenewed waits until each hold's end has moved. ValidUntil reads two clocks, so 10 ms are no renewal.
func areRenewed(t *testing.T, holds ...*Hold) {
	t.Helper()
	var until []time.Time
	for _, h := range holds {
		until = append(until, h.ValidUntil())
	}
	for i, h := range holds {
		becomes(t, h.Name()+" is renewed", func() bool {
			if err := h.Err(); err != nil {
				t.Fatal(err)
			}
			return h.ValidUntil().After(until[i].Add(10 * time.Millisecond))
		})
	}
}

// Each call ends, and only one dial hangs. If it returns after all, its connection is used.
func TestE1DialThatHangsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a timeout passes")
	const timeout = time.Second
	pool := hangingPool(t, redistest.Start(t))
	c, err := New(pool, WithCommandTimeout(timeout))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l := c.NewLock("orders")
	for i := range 3 {
		_, err := l.TryLock(t.Context())
		if err == nil || errors.Is(err, ErrUncertain) || errors.Is(err, ErrLocked) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if _, err := l.IsLocked(t.Context()); err == nil {
		t.Error("an answer without a connection")
	}
	if n := pool.dials.Load(); n != 1 {
		t.Errorf("%d dials, want the one that hangs", n)
	}
	close(pool.gate)
	becomes(t, "the lock can be had", func() bool {
		h, err := l.TryLock(t.Context())
		if err == nil {
			mustUnlock(t, h)
		}
		return err == nil
	})
	if n := pool.dials.Load(); n != 1 {
		t.Errorf("%d dials, and the first one was good", n)
	}
}

// Close does not wait for hanging dials. When they return, the pool gets their connections.
func TestE1CloseDoesNotWaitForADialThatHangs(t *testing.T) {
	t.Parallel()
	const timeout = time.Second
	s := redistest.Start(t)
	pool := hangingPool(t, s)
	c, err := New(pool, WithCommandTimeout(timeout))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() { _, _ = c.NewLock("orders").Lock(t.Context()) })
	becomes(t, "a dial", func() bool { return pool.underWay.Load() == 1 })
	c.Close()
	all.Wait()
	close(pool.gate)
	becomes(t, "the connection is back", func() bool { return pool.IdleCount() == 1 && pool.ActiveCount() == 1 })
	conn := pool.Get()
	defer conn.Close()
	if _, err := conn.Do("PING"); err != nil {
		t.Error(err)
	}
}
