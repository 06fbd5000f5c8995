package main

import (
	"context"
	"strings"

	"github.com/rlock-go/redisson/rlock"
)

func openOurs(addr string) (client, error) { return openOursWith(addr) }

// openOursWith opens rlock at an address or a URL.
func openOursWith(addr string, opts ...rlock.Option) (client, error) {
	if !strings.Contains(addr, "://") {
		addr = "redis://" + addr
	}
	c, err := rlock.Open(context.Background(), addr, opts...)
	return client{func(name string) handle { return ofLock(c.NewLock(name)) }, func() { c.Close() }}, err
}

func ofLock(l *rlock.Lock) handle {
	return holding(func(ctx context.Context) (*rlock.Hold, error) { return l.Lock(ctx) }, (*rlock.Hold).Unlock)
}

// Arguments of a party, for its options.
const (
	syncedArgument  = "synced"
	shardedArgument = "sharded"
)

func oursArgument(argument string) []rlock.Option {
	switch argument {
	case syncedArgument:
		return []rlock.Option{rlock.WithReplicaSync(true)}
	case shardedArgument:
		return []rlock.Option{rlock.WithClusterPublish(rlock.PublishSharded)}
	}
	return nil
}
