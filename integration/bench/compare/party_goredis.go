//go:build redsync || redislock

package main

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func init() { redis.SetLogger(quiet{}) }

// quiet discards the library's log, whose errors while its server fails would hide the run's own output.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// goRedis opens the client that redsync and redislock use.
func goRedis(o opening) *redis.Client {
	if len(o.sentinels) > 0 {
		return redis.NewFailoverClient(&redis.FailoverOptions{MasterName: redistest.MasterName, SentinelAddrs: o.sentinels,
			ReadTimeout: patience, WriteTimeout: patience, DialTimeout: patience, PoolSize: o.size()})
	}
	return redis.NewClient(&redis.Options{Addr: o.addr, ReadTimeout: patience, WriteTimeout: patience, DialTimeout: patience, PoolSize: o.size()})
}
