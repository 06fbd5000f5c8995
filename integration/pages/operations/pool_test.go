package operations_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// asOnThePage has the page's code in a function.
func asOnThePage(address string) (*redis.Pool, *rlock.Client, error) {
	pool := &redis.Pool{
		MaxActive: 12, // ten for the rest, two for the locks
		MaxIdle:   12,
		Wait:      true,
		DialContext: func(ctx context.Context) (redis.Conn, error) {
			return redis.DialContext(ctx, "tcp", address,
				redis.DialClientName("orders"),
				redis.DialConnectTimeout(time.Second),
				redis.DialReadTimeout(3*time.Second),
				redis.DialWriteTimeout(3*time.Second))
		},
	}
	client, err := rlock.New(pool)
	return pool, client, err
}

func TestPoolAsOnThePage(t *testing.T) {
	t.Parallel()
	r := start(t)
	pool, c, err := asOnThePage(r.server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	defer c.Close()
	l := c.NewLock("invoices")
	h := r.Hold(l)
	if active, idle := pool.ActiveCount(), pool.IdleCount(); active != 1 || idle != 0 {
		t.Errorf("%d connections, %d idle, before anybody waits", active, idle)
	}
	e := r.enter(t.Context(), l)
	if active, idle := pool.ActiveCount(), pool.IdleCount(); active != 2 || idle != 0 {
		t.Errorf("%d connections, %d idle, while somebody waits", active, idle)
	}
	r.Unlock(h)
	r.Unlock(r.Entered(e).Hold)
	list, err := redis.String(r.Do("CLIENT", "LIST"), nil)
	if err != nil || strings.Count(list, " name=orders ") != 2 {
		t.Errorf("%v: %s", err, list)
	}
	c.Close()
	if n := pool.ActiveCount(); n != 0 {
		t.Errorf("%d connections after Close", n)
	}
}

func TestPoolThatHasNoneToLend(t *testing.T) {
	t.Parallel()
	r := start(t)
	const timeout = 3 * time.Second
	for _, wait := range []bool{false, true} {
		pool := dialling(r.server, &redis.Pool{MaxActive: 2, Wait: wait})
		defer pool.Close()
		c, err := rlock.New(pool, rlock.WithCommandTimeout(timeout))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		one, two := pool.Get(), pool.Get()
		began := time.Now()
		_, err = c.NewLock("invoices").TryLock(t.Context())
		took := time.Since(began)
		if err == nil || !strings.Contains(err.Error(), "MaxActive") {
			t.Errorf("Wait %v: %v", wait, err)
		}
		if wait != (took > timeout/2) {
			t.Errorf("Wait %v: told after %v", wait, took)
		}
		one.Close()
		two.Close()
	}
	pool := dialling(r.server, &redis.Pool{MaxActive: 1})
	defer pool.Close()
	if _, err := rlock.New(pool); !errors.Is(err, rlock.ErrInvalidOption) {
		t.Errorf("MaxActive 1: %v", err)
	}
}

func TestPoolsTimeLimitsSpareWhatIsBorrowed(t *testing.T) {
	t.Parallel()
	r := start(t)
	const limit = 50 * time.Millisecond
	var dials, asked atomic.Int64
	pool := dialling(r.server, &redis.Pool{MaxIdle: 4, IdleTimeout: limit, MaxConnLifetime: limit,
		TestOnBorrow: func(redis.Conn, time.Time) error { asked.Add(1); return nil }})
	dial := pool.DialContext
	pool.DialContext = func(ctx context.Context) (redis.Conn, error) { dials.Add(1); return dial(ctx) }
	defer pool.Close()
	c, err := rlock.New(pool)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l := c.NewLock("invoices")
	for range 3 {
		r.Unlock(r.Hold(l))
		<-time.After(2 * limit) // both limits are over
	}
	if dials, asked := dials.Load(), asked.Load(); dials != 1 || asked > 1 {
		t.Errorf("%d connections were made, TestOnBorrow asked %d times", dials, asked)
	}
}

func dialling(s *redisserver.LocalServer, p *redis.Pool) *redis.Pool {
	p.DialContext = func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", s.Addr(), redis.DialReadTimeout(5*time.Second), redis.DialWriteTimeout(5*time.Second))
	}
	return p
}
