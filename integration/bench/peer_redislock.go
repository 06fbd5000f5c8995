//go:build redislock

package main

import (
	"context"
	"time"

	"github.com/bsm/redislock"
	goredis "github.com/redis/go-redis/v9"
)

// redislockPoll is quicker than what its documentation shows (100 ms), to its advantage in hand-offs.
const redislockPoll = 10 * time.Millisecond

func init() { openers[bsmP] = openRedislock }

type redislockClient struct {
	r *goredis.Client
	c *redislock.Client
}

func openRedislock(addr string) (client, error) {
	r := goredis.NewClient(&goredis.Options{Addr: addr, PoolSize: poolSize, PoolTimeout: time.Minute})
	return redislockClient{r, redislock.New(r)}, nil
}

func (c redislockClient) handle(name string) handle { return &redislockHandle{c: c.c, name: name} }
func (c redislockClient) close()                    { c.r.Close() }

type redislockHandle struct {
	c    *redislock.Client
	name string
	l    *redislock.Lock
}

func (h *redislockHandle) lock(ctx context.Context) (err error) {
	h.l, err = h.c.Obtain(ctx, h.name, lease, &redislock.Options{RetryStrategy: redislock.LinearBackoff(redislockPoll)})
	return err
}

func (h *redislockHandle) unlock(ctx context.Context) error { return h.l.Release(ctx) }
