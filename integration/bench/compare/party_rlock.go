package main

import (
	"context"

	"github.com/rlock-go/redisson/rlock"
)

func openOurs(o opening) (*service, error) {
	// Callers can't size a pool: rlock has one connection for commands and one for subscriptions.
	c, err := rlock.Open(context.Background(), o.url(), rlock.WithWatchdogTimeout(lease), rlock.WithCommandTimeout(patience))
	return &service{
		lock: func(ctx context.Context, name string) (hold, error) {
			h, err := c.NewLock(name).Lock(ctx)
			return hold{unlock: h.Unlock, over: func() bool { return h.Err() != nil }}, err
		},
		force: func(ctx context.Context, name string) error {
			_, err := c.NewLock(name).ForceUnlock(ctx)
			return err
		},
		close: func() { c.Close() },
	}, err
}
