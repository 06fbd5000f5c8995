package rlock

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redistest"
)

// hanging is a pool whose Dial has no context and takes as long as the test wants.
type hanging struct {
	redis.Pool
	gate     chan struct{} // dials go on when it is closed
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

// becomes returns when is holds.
func becomes(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(soon); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never within %v: %s", soon, what)
		}
	}
}

// The command timeout bounds each call, and one dial is all that hangs. When it comes to an end at last, what it brought is
// used.
func TestE1DialThatHangsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	const timeout = 200 * time.Millisecond
	pool := hangingPool(t, redistest.Start(t))
	c, err := New(pool, WithCommandTimeout(timeout))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l := c.NewLock("orders")
	began := time.Now()
	for i := range 3 {
		_, err := l.TryLock(t.Context())
		if err == nil || errors.Is(err, ErrUncertain) || errors.Is(err, ErrLocked) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if _, err := l.IsLocked(t.Context()); err == nil {
		t.Error("an answer without a connection")
	}
	if took := time.Since(began); took > 4*3*timeout {
		t.Errorf("four calls took %v", took)
	}
	if n := pool.dials.Load(); n != 1 {
		t.Errorf("%d dials, want the one that hangs", n)
	}
	close(pool.gate)
	becomes(t, "the lock can be had", func() bool {
		h, err := l.TryLock(t.Context())
		if err == nil {
			unlock(t, h)
		}
		return err == nil
	})
	if n := pool.dials.Load(); n != 1 {
		t.Errorf("%d dials, and the first one was good", n)
	}
}

// Close leaves the dials to themselves, and the pool gets their connections.
func TestE1CloseDoesNotWaitForADialThatHangs(t *testing.T) {
	t.Parallel()
	const timeout = 200 * time.Millisecond
	s := redistest.Start(t)
	pool := hangingPool(t, s)
	c, err := New(pool, WithCommandTimeout(timeout))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() { _, _ = c.NewLock("orders").Lock(t.Context()) })
	becomes(t, "a dial", func() bool { return pool.underWay.Load() == 1 })
	began := time.Now()
	c.Close()
	if took := time.Since(began); took > 4*timeout {
		t.Errorf("Close took %v", took)
	}
	all.Wait()
	close(pool.gate)
	becomes(t, "the connection is back", func() bool { return pool.IdleCount() == 1 && pool.ActiveCount() == 1 })
	conn := pool.Get()
	defer conn.Close()
	if _, err := conn.Do("PING"); err != nil {
		t.Error(err)
	}
}
