package pubsub

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// After these tests leakcheck checks that no goroutine is left.

func TestE1CloseWhileConnected(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	h := newHub(t, own(srv.Addr()), Options{Timeout: time.Minute})
	rs := crowd(t, h, 30)
	returns(t, "Close", func() {
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

// A pool never lends a subscribed connection again, even if Close comes while the hub subscribes.
func TestE1BorrowedConnectionIsNotLentAgain(t *testing.T) {
	t.Parallel()
	for _, channels := range []int{0, 1, 2500} {
		t.Run(fmt.Sprint(channels), func(t *testing.T) {
			srv := redistest.Start(t)
			pool := poolOf(t, srv)
			h := newHub(t, pool.GetContext, Options{})
			r := new(recorder)
			s := h.Subscribe("c", r)
			r.await(t, "confirmed", 1)
			if channels == 0 {
				s.Close()
				await(t, "given up", func() bool { return h.Channels() == 0 })
			}
			for i := range max(0, channels-1) {
				h.Subscribe(fmt.Sprint("c", i), NewFlag())
			}
			h.Close()
			if n := pool.ActiveCount(); n != 0 {
				t.Errorf("pool has %d connections, want none", n)
			}
			admin := srv.Dial(t)
			await(t, "nothing is subscribed", func() bool { return len(subscribers(t, admin)) == 0 })
		})
	}
}

func TestE1CloseWhileServerIsSilent(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "Close takes a timeout")
	both(t, func(t *testing.T, srv *redistest.Server, dial DialFunc) {
		h := newHub(t, dial, Options{Timeout: 2 * time.Second})
		crowd(t, h, 3)
		srv.Pause()
		returns(t, "Close", func() { h.Close() })
		srv.Resume()
		c := srv.Dial(t)
		await(t, "the server saw it", func() bool { return len(subscribers(t, c)) == 0 })
	})
}

func TestE1CloseWhileReconnecting(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, srv *redistest.Server, dial DialFunc) {
		h := newHub(t, dial, Options{MaxRetry: time.Hour})
		crowd(t, h, 3)
		srv.Stop()
		await(t, "the loss is noticed", func() bool { return !connected(h) })
		returns(t, "Close", func() { h.Close() })
	})
}

func TestE1CloseWhileDialling(t *testing.T) {
	t.Parallel()
	// A listener that never accepts, so that the handshake never ends.
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
		clock.Signal(dialling)
		_, err = c.Read(make([]byte, 1))
		return nil, errors.Join(err, ctx.Err())
	}, Options{Timeout: time.Hour})
	h.Subscribe("c", NewFlag())
	<-dialling
	returns(t, "Close", func() { h.Close() })
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
