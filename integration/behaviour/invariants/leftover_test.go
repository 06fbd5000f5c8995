package invariants

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// After heavy work an idle client keeps two connections, and nothing else on the server.
func TestE2NothingIsLeftAfterWork(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.openWith(r.server.URL(), patient, []rlock.Option{rlock.WithWatchdogTimeout(6 * time.Second)})
		var all sync.WaitGroup
		for i := range 16 {
			l := c.NewLock(fmt.Sprint(name, i%3))
			all.Go(func() {
				for n := range 40 {
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+n%7)*time.Millisecond)
					h, err := l.Lock(ctx)
					if err == nil {
						again, err := l.Lock(context.Background(), rlock.As(h.Owner()), rlock.Lease(long))
						if r.kind.Strict {
							want(t, err, rlock.ErrReentered)
						} else if err != nil {
							t.Error(err)
						} else if err := again.Unlock(ctx); err != nil {
							t.Error(err)
						}
						want(t, h.Unlock(ctx), nil)
					}
					cancel()
				}
			})
		}
		all.Wait()
		r.Becomes("no key is left", func() bool { return r.keys() == 0 })
		r.Becomes("nothing is subscribed", func() bool { return len(r.Channels()) == 0 })
		if n := r.Clients(); n > 2 {
			t.Errorf("%d connections", n)
		}
		c.Close()
	})
}

// The pool gets its connections back, with nothing subscribed.
func TestE2PoolGetsItsConnectionsBack(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		pool := &redis.Pool{MaxActive: 2, MaxIdle: 2, DialContext: func(ctx context.Context) (redis.Conn, error) {
			return redis.DialContext(ctx, "tcp", r.Proxy.Addr(), redis.DialContextFunc(r.Dial), redis.DialReadTimeout(timeout), redis.DialWriteTimeout(timeout))
		}}
		defer pool.Close()
		opened, err := rlock.New(pool, rlock.WithCommandTimeout(timeout))
		testbed.Must(t, err)
		c := client{opened, r.kind}
		r.occupy(name)
		got := testbed.Enter(t.Context(), c.NewLock(name))
		r.Listeners(name, 1)
		r.vacate(name)
		unlock(t, granted(t, got))
		began := time.Now()
		c.Close()
		if took := time.Since(began); took > 2*timeout+latencies {
			t.Errorf("Close took %v", took)
		}
		if s := pool.Stats(); s.ActiveCount != s.IdleCount {
			t.Errorf("%d of %d connections were not returned", s.ActiveCount-s.IdleCount, s.ActiveCount)
		}
		r.Becomes("nothing is subscribed", func() bool { return len(r.Channels()) == 0 })
		for range 2 {
			conn := pool.Get()
			defer conn.Close()
			if v, err := conn.Do("PING"); v != "PONG" || err != nil {
				t.Errorf("a returned connection says %v, %v", v, err)
			}
		}
	})
}

// The client can't break a borrowed connection, and the pool's own timeouts may be long.
func TestE1CloseWithBorrowedConnectionsIsBounded(t *testing.T) {
	for what, mute := range map[string]func(*rig, bool){
		"frozen":    func(r *rig, on bool) { r.Proxy.Freeze(on) },
		"blackhole": func(r *rig, on bool) { r.Proxy.Blackhole(on); r.Proxy.CutAll() },
		"stopped": func(r *rig, on bool) {
			if on {
				r.server.Pause()
			} else {
				r.server.Resume()
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				pool := &redis.Pool{MaxIdle: 2, DialContext: func(ctx context.Context) (redis.Conn, error) {
					return redis.DialContext(ctx, "tcp", r.Proxy.Addr(), redis.DialContextFunc(r.Dial), redis.DialReadTimeout(time.Minute), redis.DialWriteTimeout(time.Minute))
				}}
				defer pool.Close()
				opened, err := rlock.New(pool, rlock.WithCommandTimeout(timeout))
				testbed.Must(t, err)
				c := client{opened, r.kind}
				lock(t, c.NewLock("held"))
				r.occupy(name)
				got := testbed.Enter(t.Context(), c.NewLock(name))
				r.answered(name, 2)
				mute(r, true)
				second := testbed.Enter(t.Context(), c.NewLock("second"))
				began := time.Now()
				closed := testbed.Begun(c.Close)
				testbed.Receive(t, "Close", closed)
				if took := time.Since(began); took > 2*timeout+latencies {
					t.Errorf("Close took %v", took)
				}
				want(t, testbed.Receive(t, "a waiter returns", got).Err, rlock.ErrClosed)
				wantOneOf(t, testbed.Receive(t, "a caller returns", second).Err, rlock.ErrClosed, rlock.ErrUncertain)
				mute(r, false)
				pool.Close() // closes the returned connections
			})
		})
	}
}
