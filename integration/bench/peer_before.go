//go:build before

package main

import (
	"context"

	"rlock.before/rlock"
)

// The library as it was at an earlier commit.
func init() {
	openers[beforeP] = func(addr string) (client, error) {
		c, err := rlock.Open(context.Background(), "redis://"+addr)
		lock := func(name string) handle {
			l := c.NewLock(name)
			return holding(func(ctx context.Context) (*rlock.Hold, error) { return l.Lock(ctx) }, (*rlock.Hold).Unlock)
		}
		return client{lock, func() { c.Close() }}, err
	}
}
