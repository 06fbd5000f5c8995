package behaviour_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// pool makes a pool with the settings that the documentation asks for.
func (r *rig) pool(maxActive int, wait bool) *redis.Pool {
	p := &redis.Pool{
		MaxActive: maxActive, MaxIdle: max(maxActive, 2), Wait: wait,
		DialContext: func(ctx context.Context) (redis.Conn, error) {
			return redis.DialURLContext(ctx, r.Server.URL(), redis.DialReadTimeout(10*time.Second), redis.DialWriteTimeout(3*time.Second))
		},
	}
	r.Cleanup(func() { p.Close() })
	return p
}

func (r *rig) borrower(p rlock.Pool, opts ...rlock.Option) *rlock.Client {
	r.Helper()
	c, err := rlock.New(p, opts...)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { c.Close() })
	return c
}

// lender hides a pool's fields, so that the client cannot read MaxActive.
type lender struct{ pool *redis.Pool }

func (l lender) GetContext(ctx context.Context) (redis.Conn, error) { return l.pool.GetContext(ctx) }

func TestPoolThatIsTooSmallAtTheMoment(t *testing.T) {
	t.Parallel()
	r := start(t)
	const timeout = 2 * time.Second
	cases := map[string]func(t *testing.T) (rlock.Pool, func()){
		"does not wait and another has borrowed": func(t *testing.T) (rlock.Pool, func()) {
			p := r.pool(2, false)
			other := p.Get()
			return p, func() { other.Close() }
		},
		"waits and another has borrowed": func(t *testing.T) (rlock.Pool, func()) {
			p := r.pool(2, true)
			other := p.Get()
			return p, func() { other.Close() }
		},
		"has one connection and does not say so": func(t *testing.T) (rlock.Pool, func()) {
			return lender{r.pool(1, false)}, nil
		},
	}
	for behaviour, make := range cases {
		t.Run(behaviour, func(t *testing.T) {
			p, giveBack := make(t)
			c := r.borrower(p, rlock.WithCommandTimeout(timeout))
			name := r.name()
			h := r.Lock(r.open().NewLock(name))
			_, err := c.NewLock(name).TryLockFor(t.Context(), 30*time.Second)
			wants(t, err, nil, "at least 2", name)
			r.Unlock(h)
			// Calls that need one connection still work.
			r.Unlock(r.Lock(c.NewLock(name)))
			if giveBack == nil {
				return
			}
			giveBack()
			r.handOver(r.open(), c)
		})
	}
}

// handOver has one client wait for another's unlock, which takes a command and a subscription connection of the waiter.
func (r *rig) handOver(from, to *rlock.Client) {
	r.Helper()
	name := r.name()
	h := r.Lock(from.NewLock(name))
	waiter := r.enter(to.NewLock(name))
	r.Listeners(name, 1)
	r.Unlock(h)
	e := r.Entered(waiter)
	r.Unlock(e.Hold)
}

func TestPoolOverTLS(t *testing.T) {
	s := redisserver.TLS(t, true)
	r := on(t, s.LocalServer)
	config := s.Config(t)
	pool := &redis.Pool{Dial: func() (redis.Conn, error) {
		return redis.DialURL(s.URL(), redis.DialTLSConfig(config), redis.DialReadTimeout(3*time.Second), redis.DialWriteTimeout(3*time.Second))
	}}
	defer pool.Close()
	c, err := rlock.New(pool)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r.handOver(r.Open(s.URL(), rlock.WithTLSConfig(config)), c)
	if host, _, _ := net.SplitHostPort(s.Addr()); host != "127.0.0.1" {
		t.Error(host)
	}
}
