package pubsub

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// crowd subscribes 3 waiters to each of n channels and awaits them.
func crowd(t *testing.T, h *Hub, n int) []*recorder {
	t.Helper()
	var rs []*recorder
	for i := range n {
		for range 3 {
			r := new(recorder)
			rs = append(rs, r)
			h.Subscribe(fmt.Sprint("c", i), r)
		}
	}
	for _, r := range rs {
		r.await(t, "confirmed", 1)
	}
	return rs
}

func TestP2ResubscribeWakesEverybody(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, srv *redistest.Server, dial DialFunc) {
		h := newHub(t, dial, Options{})
		c := srv.Dial(t)
		rs := crowd(t, h, 50)
		for round := range 3 {
			do(t, c, "CLIENT", "KILL", "TYPE", "pubsub")
			for _, r := range rs {
				r.await(t, "confirmed", round+2)
			}
		}
		do(t, c, "PUBLISH", "c7", "x")
		rs[7*3].await(t, "message x", 1)
		if got := subscribers(t, c); len(got) != 1 {
			t.Errorf("subscribed clients: %q, want one", got)
		}
	})
}

func TestP2ServerRestartWakesEverybody(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, srv *redistest.Server, dial DialFunc) {
		h := newHub(t, dial, Options{})
		rs := crowd(t, h, 20)
		srv.Stop()
		await(t, "the loss is noticed", func() bool { return !connected(h) })
		late := new(recorder)
		h.Subscribe("late", late)
		srv.Restart()
		for _, r := range rs {
			r.await(t, "confirmed", 2)
		}
		late.await(t, "confirmed", 1)
	})
}

func TestHubWithoutWaitersDoesNotReconnect(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	var dials atomic.Int32
	dial := own(srv.Addr())
	h := newHub(t, func(ctx context.Context) (redis.Conn, error) {
		dials.Add(1)
		return dial(ctx)
	}, Options{MaxRetry: time.Millisecond})
	r := new(recorder)
	s := h.Subscribe("c", r)
	r.await(t, "confirmed", 1)
	s.Close()
	srv.Stop()
	await(t, "the loss is noticed", func() bool { return !connected(h) })
	srv.Restart()
	again := new(recorder)
	h.Subscribe("c", again)
	again.await(t, "confirmed", 1)
	if n := dials.Load(); n != 2 {
		t.Errorf("%d dials, want one for each time somebody waited", n)
	}
}

func TestIdleConnectionIsPingedAndKept(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "some PINGs are waited for")
	both(t, func(t *testing.T, srv *redistest.Server, dial DialFunc) {
		t.Parallel()
		h := newHub(t, dial, Options{Timeout: 2 * time.Second})
		c := srv.Dial(t)
		r := new(recorder)
		s := h.Subscribe("c", r)
		r.await(t, "confirmed", 1)
		mon := monitor.Tap(t, srv.URL())
		pings := 0
		count := func() bool {
			for _, l := range mon.Mark() {
				if strings.EqualFold(l.Args[0], "PING") {
					pings++
				}
			}
			return pings >= 2
		}
		await(t, "PINGs while subscribed", count) // the reply is an array
		if r.count("confirmed") != 1 || len(subscribers(t, c)) != 1 {
			t.Errorf("the connection did not last: %q", r.all())
		}
		s.Close()
		pings = 0
		await(t, "PINGs with nothing subscribed", count) // the reply is +PONG
		if h.Channels() != 0 {
			t.Error("still subscribed")
		}
	})
}

func TestSilentServerIsNoticed(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, srv *redistest.Server, dial DialFunc) {
		h := newHub(t, dial, Options{Timeout: 300 * time.Millisecond})
		r := new(recorder)
		h.Subscribe("c", r)
		r.await(t, "confirmed", 1)
		srv.Pause()
		returns(t, "noticing", func() {
			await(t, "the silence is noticed", func() bool { return !connected(h) })
		})
		srv.Resume()
		r.await(t, "confirmed", 2)
	})
}

func TestStaleConnectionsOfAPoolAreUsedUpQuickly(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	pool := poolOf(t, srv)
	pool.MaxIdle = 16
	var idle []redis.Conn
	for range pool.MaxIdle {
		idle = append(idle, pool.Get())
	}
	for _, c := range idle {
		do(t, c, "PING")
		c.Close()
	}
	srv.Restart()
	h := newHub(t, pool.GetContext, Options{MaxRetry: time.Hour})
	r := new(recorder)
	h.Subscribe("c", r)
	returns(t, "finding a fresh one", func() { r.await(t, "confirmed", 1) })
}

// Too many attempts would burden a server that is already in trouble.
func TestRetriesAreSpacedAndEndless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		begun := time.Now()
		broken := errors.New("broken")
		h := New(func(context.Context) (redis.Conn, error) {
			at = append(at, time.Since(begun))
			return nil, broken
		}, Options{})
		h.Subscribe("c", NewFlag())
		time.Sleep(time.Minute)
		h.Close()
		if n := len(at); n < 60 || n > 300 {
			t.Errorf("%d attempts in a minute", n)
		}
		if first := at[1]; first < 10*time.Millisecond || first > 50*time.Millisecond {
			t.Errorf("first retry after %v", first)
		}
		for i := 1; i < len(at); i++ {
			if pause := at[i] - at[i-1]; pause > time.Second {
				t.Errorf("a pause of %v", pause)
			}
		}
	})
}

// Redial means that another server may be reached: it is tried at once, and then often.
func TestRedialEndsThePauseBetweenTwoAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int64
		h := New(func(context.Context) (redis.Conn, error) {
			tries.Add(1)
			return nil, errors.New("nobody is there")
		}, Options{})
		defer h.Close()
		h.Subscribe("c", NewFlag())
		time.Sleep(20 * time.Second)
		synctest.Wait()
		before := tries.Load()
		h.Redial()
		synctest.Wait()
		if n := tries.Load() - before; n == 0 {
			t.Error("no attempt at once")
		}
		before = tries.Load()
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		if n := tries.Load() - before; n < 2 {
			t.Errorf("%d attempts in the next 200 ms", n)
		}
	})
}

// The hub keeps nothing of waiters that came and left without a connection.
func TestE2NothingIsKeptOfThoseThatLeftWhileDisconnected(t *testing.T) {
	t.Parallel()
	h := newHub(t, func(context.Context) (redis.Conn, error) {
		return nil, errors.New("broken")
	}, Options{})
	for i := range 10_000 {
		h.Subscribe(fmt.Sprint("c", i), NewFlag()).Close()
	}
	if n := h.Channels(); n != 0 {
		t.Errorf("%d channels kept", n)
	}
}

func TestRedialMovesEveryWaiterToAnotherConnection(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, srv *redistest.Server, dial DialFunc) {
		h := newHub(t, dial, Options{})
		c := srv.Dial(t)
		rs := crowd(t, h, 20)
		old := subscribers(t, c)
		h.Redial()
		for _, r := range rs {
			r.await(t, "confirmed", 2)
		}
		do(t, c, "PUBLISH", "c7", "x")
		rs[7*3].await(t, "message x", 1)
		if got := subscribers(t, c); len(got) != 1 || got[0] == old[0] {
			t.Errorf("subscribed clients: %q, before %q", got, old)
		}
	})
}

// A connection that is being dialled when Redial is called may still lead to the old server.
func TestRedialWhileDiallingLeavesThatConnectionToo(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, srv *redistest.Server, dial DialFunc) {
		var dials atomic.Int64
		dialling, on := make(chan struct{}), make(chan struct{})
		h := newHub(t, func(ctx context.Context) (redis.Conn, error) {
			if dials.Add(1) == 1 {
				close(dialling)
				<-on
			}
			return dial(ctx)
		}, Options{})
		r := new(recorder)
		h.Subscribe("c", r)
		<-dialling
		h.Redial()
		close(on)
		await(t, "another connection", func() bool { return dials.Load() == 2 })
		// The first connection may have been confirmed, too, and bring a message before the second is there.
		c := srv.Dial(t)
		await(t, "message", func() bool {
			do(t, c, "PUBLISH", "c", "x")
			return r.count("message x") > 0
		})
	})
}
