package behaviour_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/rlock"
)

// pool makes one as the documentation asks for.
func (r *rig) pool(maxActive int, wait bool) *redis.Pool {
	p := r.poolAt(r.Server.URL)
	p.MaxActive, p.MaxIdle, p.Wait = maxActive, max(maxActive, 2), wait
	return p
}

// poolAt makes one without bounds, of connections to wherever url says.
func (r *rig) poolAt(url func() string) *redis.Pool {
	p := &redis.Pool{
		MaxIdle: 10,
		DialContext: func(ctx context.Context) (redis.Conn, error) {
			return redis.DialURLContext(ctx, url(), redis.DialReadTimeout(10*time.Second), redis.DialWriteTimeout(3*time.Second))
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

func TestPoolOfTwoIsEnough(t *testing.T) {
	r := start(t)
	for _, wait := range []bool{false, true} {
		t.Run(fmt.Sprintf("Wait %v", wait), func(t *testing.T) {
			p := r.pool(2, wait)
			c := r.borrower(p)
			r.handOver(r.open(), c)
			r.handOver(c, r.open())
			if n := p.ActiveCount(); n != 2 {
				t.Errorf("%d connections", n)
			}
			began := time.Now()
			c.Close()
			between(t, "Close", time.Since(began), 0, 2*time.Second)
			t.Run("both come back usable", func(t *testing.T) {
				if active, idle := p.ActiveCount(), p.IdleCount(); active != 2 || idle != 2 {
					t.Fatalf("%d connections, %d of them returned", active, idle)
				}
				a, b := p.Get(), p.Get()
				defer a.Close()
				defer b.Close()
				for _, conn := range []redis.Conn{a, b} {
					for i := range 3 {
						text := fmt.Sprint("echo ", i)
						if reply, err := redis.String(conn.Do("ECHO", text)); reply != text || err != nil {
							t.Errorf("%q, %v", reply, err)
						}
					}
					info, err := redis.String(conn.Do("CLIENT", "INFO"))
					if err != nil || !strings.Contains(info, " sub=0 psub=0 ") {
						t.Errorf("%v, %s", err, info)
					}
				}
			})
		})
	}
}

func TestPoolOfOneIsRefused(t *testing.T) {
	r := start(t)
	for _, wait := range []bool{false, true} {
		t.Run(fmt.Sprintf("Wait %v", wait), func(t *testing.T) {
			began := time.Now()
			_, err := rlock.New(r.pool(1, wait))
			wants(t, err, rlock.ErrInvalidOption, "MaxActive is 1", "MaxActive of at least 2")
			between(t, "the refusal", time.Since(began), 0, time.Second)
		})
	}
}

// lender hides what a pool is.
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
			began := time.Now()
			_, err := c.NewLock(name).TryLockFor(t.Context(), 30*time.Second)
			wants(t, err, nil, "at least 2", name)
			between(t, "the wait that cannot be woken", time.Since(began), 0, 10*timeout)
			r.Unlock(h)
			// What needs one connection goes on working.
			r.Unlock(r.Lock(c.NewLock(name)))
			if giveBack == nil {
				return
			}
			giveBack()
			r.handOver(r.open(), c)
		})
	}
}
