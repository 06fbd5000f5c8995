//go:build redsync

package main

import (
	"context"
	"math"

	"github.com/go-redsync/redsync/v4"
	redsyncredigo "github.com/go-redsync/redsync/v4/redis/redigo"
)

func init() {
	openers[redsyncP] = func(addr string) (client, error) {
		pool := newPool(addr)
		rs := redsync.New(redsyncredigo.NewPool(pool))
		lock := func(name string) handle {
			// By default it gives up after 32 tries; here a caller waits until it has the lock.
			m := rs.NewMutex(name, redsync.WithExpiry(lease), redsync.WithTries(math.MaxInt32))
			return handle{m.LockContext, func(ctx context.Context) error {
				_, err := m.UnlockContext(ctx)
				return err
			}}
		}
		return client{lock, func() { pool.Close() }}, nil
	}
}
