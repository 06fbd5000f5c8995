package redisconn

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// borrowed and dialled make the two kinds of connection.
func borrowed(t *testing.T, s *redistest.Server) (*Owned, *redis.Pool) {
	t.Helper()
	pool := &redis.Pool{MaxIdle: 1, MaxActive: 1, Dial: func() (redis.Conn, error) { return redis.Dial("tcp", s.Addr()) }}
	t.Cleanup(func() { pool.Close() })
	c, err := Borrow(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	return &Owned{Conn: c}, pool
}

func dialled(t *testing.T, s *redistest.Server) *Owned {
	t.Helper()
	target, err := ParseURL(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	c, err := target.Dial(ctx, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return &Owned{Conn: c}
}

func TestInterruptEndsAReadUnderWay(t *testing.T) {
	s := redistest.Start(t)
	ofPool, _ := borrowed(t, s)
	for what, o := range map[string]*Owned{"dialled": dialled(t, s), "borrowed": ofPool} {
		if got := o.Dialled(); got != (what == "dialled") {
			t.Errorf("%s: dialled %v", what, got)
		}
		if err := errors.Join(o.Conn.Send("BLPOP", "nothing", 0), o.Conn.Flush()); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := o.Conn.Receive()
			ended <- err
		}()
		s.AwaitBlocked(t)
		o.Interrupt()
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%s: the read was answered", what)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: the read goes on", what)
		}
		o.Release()
	}
}

// The pool lends the connection again, so its former user must leave it alone.
func TestInterruptAfterReleaseTouchesNothing(t *testing.T) {
	s := redistest.Start(t)
	o, pool := borrowed(t, s)
	o.Release()
	c := pool.Get()
	defer c.Close()
	o.Interrupt()
	if _, err := c.Do("PING"); err != nil {
		t.Errorf("the next borrower's connection was broken off: %v", err)
	}
}

func TestOnlyABorrowedConnectionIsStale(t *testing.T) {
	s := redistest.Start(t)
	for _, c := range []struct {
		o    func() *Owned
		met  error
		moot bool
	}{
		{func() *Owned { o, _ := borrowed(t, s); return o }, io.EOF, true},
		{func() *Owned { o, _ := borrowed(t, s); return o }, &ReplicaError{}, true},
		{func() *Owned { o, _ := borrowed(t, s); return o }, errors.New("timeout"), false},
		{func() *Owned { return dialled(t, s) }, io.EOF, false},
	} {
		l := NewLink(func(context.Context) (redis.Conn, error) { return c.o().Conn, nil }, time.Minute, Backoff{First: time.Second, Last: time.Second})
		if _, moot, err := l.Open(t.Context(), func(*Owned) error { return c.met }); moot != c.moot || !errors.Is(err, c.met) {
			t.Errorf("%v: moot %v, %v", c.met, moot, err)
		}
	}
}

type poolFunc func() (redis.Conn, error)

func (f poolFunc) GetContext(context.Context) (redis.Conn, error) { return f() }

// A pool is a caller's code.
func TestPoolThatGivesNothingIsAnError(t *testing.T) {
	t.Parallel()
	for want, pool := range map[string]poolFunc{
		"neither a connection nor an error": func() (redis.Conn, error) { return nil, nil },
		"the pool panicked: why":            func() (redis.Conn, error) { panic("why") },
		"the pool ended its goroutine":      func() (redis.Conn, error) { runtime.Goexit(); return nil, nil },
	} {
		if c, err := Borrow(t.Context(), pool); c != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want %s", c, err, want)
		}
	}
}
