//go:build redislock

package main

import (
	"context"
	"time"

	"github.com/bsm/redislock"
)

func init() {
	openers[bsmP] = func(o opening) (*service, error) {
		client := goRedis(o)
		c := redislock.New(client)
		return &service{
			lock: func(ctx context.Context, name string) (hold, error) {
				// Without a deadline in ctx the library waits for the TTL at most.
				if _, ok := ctx.Deadline(); !ok {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, time.Hour)
					defer cancel()
				}
				l, err := c.Obtain(ctx, name, lease, &redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)})
				return hold{unlock: l.Release}, err
			},
			close: func() { client.Close() },
		}, nil
	}
}
