package pubsub

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/background"
	"github.com/rlock-go/redisson/internal/redistest"
)

// That no goroutine is left is what leakcheck checks after all of these.

func TestE1CloseWhileConnected(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	h := newHub(t, own(srv.Addr()), Options{Timeout: time.Minute})
	rs := crowd(t, h, 30)
	within(t, 2*time.Second, "Close", func() {
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { h.Close() })
		}
		wg.Wait()
	})
	c := srv.Dial(t)
	await(t, "the server saw it", func() bool { return len(subscribers(t, c)) == 0 })
	if h.Channels() != 0 || connected(h) {
		t.Errorf("after Close: %d channels, connected %t", h.Channels(), connected(h))
	}
	late := new(recorder)
	s := h.Subscribe("late", late)
	s.Close()
	h.Close()
	if late.count("") != 0 || rs[0].count("") != 1 {
		t.Errorf("called after Close: %q, %q", late.all(), rs[0].all())
	}
}

func TestE1CloseBeforeFirstSubscribe(t *testing.T) {
	t.Parallel()
	h := New(func(context.Context) (redis.Conn, error) { panic("dialled") }, Options{})
	h.Close()
	h.Close()
}

func TestE1BorrowedConnectionGoesBackClean(t *testing.T) {
	t.Parallel()
	for _, channels := range []int{0, 1, 2500} {
		t.Run(fmt.Sprint(channels), func(t *testing.T) {
			srv := redistest.Start(t)
			pool := poolOf(t, srv)
			h := newHub(t, pool.GetContext, Options{})
			r := new(recorder)
			s := h.Subscribe("c", r)
			r.await(t, "confirmed", 1)
			admin := srv.Dial(t)
			id := strings.Fields(subscribers(t, admin)[0])[0]
			if channels == 0 {
				s.Close()
				await(t, "given up", func() bool { return h.Channels() == 0 })
			}
			// Some of these are still being subscribed when Close comes.
			for i := range max(0, channels-1) {
				h.Subscribe(fmt.Sprint("c", i), NewFlag())
			}
			h.Close()
			if a, i := pool.ActiveCount(), pool.IdleCount(); a != 1 || i != 1 {
				t.Fatalf("pool has %d connections, %d idle, want 1 and 1", a, i)
			}
			c := pool.Get()
			defer c.Close()
			info, err := redis.String(c.Do("CLIENT", "LIST", "ID", do(t, c, "CLIENT", "ID")))
			if err != nil || strings.Fields(info)[0] != id || !strings.Contains(info, " sub=0 ") {
				t.Errorf("borrowed %s, came back %q, %v", id, info, err)
			}
			if got, err := redis.String(c.Do("ECHO", "fine")); got != "fine" || err != nil {
				t.Errorf("ECHO: %q, %v", got, err)
			}
			if got := subscribed(t, admin); len(got) != 0 {
				t.Errorf("left on the server: %d", len(got))
			}
		})
	}
}

// What the hub leaves behind must not depend on the pool's own cleaning up.
func TestE1BorrowedConnectionIsCleanBeforeItIsClosed(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	admin := srv.Dial(t)
	pool := poolOf(t, srv)
	var seen []string
	h := newHub(t, func(ctx context.Context) (redis.Conn, error) {
		c, err := pool.GetContext(ctx)
		return &watched{Conn: c, closing: func() { seen = subscribers(t, admin) }}, err
	}, Options{})
	crowd(t, h, 2*chunk+1)
	h.Close()
	if len(seen) != 0 {
		t.Errorf("closed while subscribed: %q", seen)
	}
}

// The PING is last, since nothing is read after its answer.
func TestE1FinalPingComesAfterEveryUnsubscribe(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	h := newHub(t, func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", f.addr())
	}, Options{Timeout: time.Minute})
	const n = 2*chunk + 1
	all := new(counter)
	for i := range n {
		h.Subscribe(fmt.Sprint("c", i), all)
	}
	p := f.accept()
	answer := func(cmd string) int {
		words := strings.Fields(cmd)
		for _, c := range words[1:] {
			p.push(strings.ToLower(words[0]), c, ":1")
		}
		return len(words) - 1
	}
	for got := 0; got < n; {
		got += answer(p.command())
	}
	await(t, "confirmations", func() bool { return all.confirmed.Load() == n })
	done := make(chan struct{})
	go func() { defer close(done); h.Close() }()
	for got := 0; got < n; {
		cmd := p.command()
		if !strings.HasPrefix(cmd, "UNSUBSCRIBE ") {
			t.Fatalf("%.40q after %d of %d were given up", cmd, got, n)
		}
		got += answer(cmd)
	}
	p.expect("PING")
	p.say("+PONG\r\n")
	<-done
}

type watched struct {
	redis.Conn
	closing func()
}

func (w *watched) ReceiveWithTimeout(d time.Duration) (any, error) {
	return redis.ReceiveWithTimeout(w.Conn, d)
}

func (w *watched) DoWithTimeout(d time.Duration, cmd string, args ...any) (any, error) {
	return redis.DoWithTimeout(w.Conn, d, cmd, args...)
}

func (w *watched) Close() error { w.closing(); return w.Conn.Close() }

func TestE1CloseWhileServerIsSilent(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "Close takes a timeout")
	both(t, func(t *testing.T, srv *redistest.Server, dial DialFunc) {
		h := newHub(t, dial, Options{Timeout: 2 * time.Second})
		crowd(t, h, 3)
		srv.Pause()
		within(t, 3*time.Second, "Close", func() { h.Close() })
		srv.Resume()
		c := srv.Dial(t)
		await(t, "the server saw it", func() bool { return len(subscribers(t, c)) == 0 })
	})
}

func TestE1SilentBorrowedConnectionIsNotKeptByThePool(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "Close takes a timeout")
	srv := redistest.Start(t)
	pool := poolOf(t, srv)
	h := newHub(t, pool.GetContext, Options{Timeout: 2 * time.Second})
	crowd(t, h, 1)
	srv.Pause()
	h.Close()
	srv.Resume()
	if a, i := pool.ActiveCount(), pool.IdleCount(); a != 0 || i != 0 {
		t.Errorf("pool has %d connections, %d idle, want none", a, i)
	}
}

func TestE1CloseWhileReconnecting(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, srv *redistest.Server, dial DialFunc) {
		h := newHub(t, dial, Options{MaxRetry: time.Hour})
		crowd(t, h, 3)
		srv.Stop()
		await(t, "the loss is noticed", func() bool { return !connected(h) })
		within(t, time.Second, "Close", func() { h.Close() })
	})
}

func TestE1CloseWhileDialling(t *testing.T) {
	t.Parallel()
	// A listener that never accepts and whose handshake never ends.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialling := make(chan struct{}, 1)
	h := New(func(ctx context.Context) (redis.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
		if err != nil {
			return nil, err
		}
		defer c.Close()
		stop := context.AfterFunc(ctx, func() { c.Close() })
		defer stop()
		background.Signal(dialling)
		_, err = c.Read(make([]byte, 1))
		return nil, errors.Join(err, ctx.Err())
	}, Options{Timeout: time.Hour})
	h.Subscribe("c", NewFlag())
	<-dialling
	within(t, time.Second, "Close", func() { h.Close() })
}

func TestNoCallBeginsAfterSubscriptionClosed(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	h := newHub(t, own(srv.Addr()), Options{})
	c := srv.Dial(t)
	witness := new(recorder)
	h.Subscribe("c", witness)
	left := new(recorder)
	s := h.Subscribe("c", left)
	left.await(t, "confirmed", 1)
	s.Close()
	do(t, c, "PUBLISH", "c", "x")
	witness.await(t, "message", 1)
	do(t, c, "CLIENT", "KILL", "TYPE", "pubsub")
	witness.await(t, "confirmed", 2)
	if got := left.all(); len(got) != 1 {
		t.Errorf("called after Close: %q", got)
	}
}
