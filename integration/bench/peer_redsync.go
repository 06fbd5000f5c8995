//go:build redsync

package main

import (
	"context"
	"math"

	"github.com/go-redsync/redsync/v4"
	redsyncredigo "github.com/go-redsync/redsync/v4/redis/redigo"
	"github.com/gomodule/redigo/redis"
)

func init() { openers[redsyncP] = openRedsync }

type redsyncClient struct {
	pool *redis.Pool
	rs   *redsync.Redsync
}

func openRedsync(addr string) (client, error) {
	pool := newPool(addr)
	return redsyncClient{pool, redsync.New(redsyncredigo.NewPool(pool))}, nil
}

func (c redsyncClient) handle(name string) handle {
	// Its default is to give up after 32 tries; whoever waits here waits for the lock.
	return redsyncHandle{c.rs.NewMutex(name, redsync.WithExpiry(lease), redsync.WithTries(math.MaxInt32))}
}

func (c redsyncClient) close() { c.pool.Close() }

type redsyncHandle struct{ m *redsync.Mutex }

func (h redsyncHandle) lock(ctx context.Context) error { return h.m.LockContext(ctx) }

func (h redsyncHandle) unlock(ctx context.Context) error {
	_, err := h.m.UnlockContext(ctx)
	return err
}
