//go:build redislock

package main

import (
	"context"
	"time"

	"github.com/bsm/redislock"
	goredis "github.com/redis/go-redis/v9"
)

// redislockPoll is shorter than in the library's documentation (100 ms), to its advantage in hand-offs.
const redislockPoll = 10 * time.Millisecond

func init() {
	openers[bsmP] = func(addr string) (client, error) {
		r := goredis.NewClient(&goredis.Options{Addr: addr, PoolSize: poolSize, PoolTimeout: time.Minute})
		c := redislock.New(r)
		lock := func(name string) handle {
			return holding(func(ctx context.Context) (*redislock.Lock, error) {
				return c.Obtain(ctx, name, lease, &redislock.Options{RetryStrategy: redislock.LinearBackoff(redislockPoll)})
			}, (*redislock.Lock).Release)
		}
		return client{lock, func() { r.Close() }}, nil
	}
}
