package rlock

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/stalls"
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

// The command timeout bounds each call, and only one dial hangs. If it returns after all, its connection is used.
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
	if took := time.Since(began); took > 4*3*timeout+stalls.Since(began) {
		t.Errorf("four calls took %v", took)
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
	began := time.Now()
	c.Close()
	if took := time.Since(began); took > 4*timeout+stalls.Since(began) {
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

// A proxy closes the connection at every script.
func TestConnectionsThatBreakAtOnceAreMadeWithPauses(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "pauses between connections are waited for")
	s := redistest.Start(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var accepts atomic.Int64
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return // closed below
			}
			accepts.Add(1)
			all.Go(func() { forwardButScripts(t, c, s.Addr()) })
		}
	})
	c, err := Open(t.Context(), "redis://"+ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := c.NewLock("orders").Lock(ctx); err == nil {
		t.Error("no error")
	}
	<-time.After(time.Second) // the client tries to undo the acquire all the while
	if n, took := accepts.Load(), time.Since(began); n < 2 || n > 30+int64(took/(100*time.Millisecond)) {
		t.Errorf("%d connections in %v", n, took)
	}
	c.Close()
	ln.Close()
	all.Wait()
}

// forwardButScripts forwards what c sends, until it sends a script.
func forwardButScripts(t *testing.T, c net.Conn, to string) {
	defer c.Close()
	up, err := net.Dial("tcp", to)
	if err != nil {
		t.Error(err)
		return
	}
	var back sync.WaitGroup
	back.Go(func() { _, _ = io.Copy(c, up) }) // until c or up is closed
	defer back.Wait()
	defer up.Close()
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if err != nil || bytes.Contains(buf[:n], []byte("EVALSHA")) {
			return
		}
		if _, err := up.Write(buf[:n]); err != nil {
			return
		}
	}
}
