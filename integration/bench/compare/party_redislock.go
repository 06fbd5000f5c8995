//go:build redislock

package main

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

func init() { openers[bsmP] = openRedislock }

type redislockService struct {
	client *redis.Client
	l      *redislock.Client
}

func openRedislock(o opening) (service, error) {
	client := goRedis(o)
	return redislockService{client, redislock.New(client)}, nil
}

// lock gives the wait a deadline of its own: without one the library waits for no longer than the TTL.
func (s redislockService) lock(ctx context.Context, name string) (hold, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Hour)
		defer cancel()
	}
	l, err := s.l.Obtain(ctx, name, lease, &redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)})
	if err != nil {
		return nil, err
	}
	return redislockHold{l}, nil
}

func (s redislockService) close() { s.client.Close() }

type redislockHold struct{ l *redislock.Lock }

func (h redislockHold) unlock(ctx context.Context) error {
	if h.l == nil {
		return errors.New("no lock")
	}
	return h.l.Release(ctx)
}

func (h redislockHold) over() bool { return false }
