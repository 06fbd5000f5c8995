package main

import (
	"context"
	"strings"

	"github.com/rlock-go/redisson/rlock"
)

type oursClient struct{ c *rlock.Client }

func openOurs(addr string) (client, error) { return openOursWith(addr) }

// openOursWith takes a URL, too.
func openOursWith(addr string, opts ...rlock.Option) (client, error) {
	if !strings.Contains(addr, "://") {
		addr = "redis://" + addr
	}
	c, err := rlock.Open(context.Background(), addr, opts...)
	if err != nil {
		return nil, err
	}
	return oursClient{c}, nil
}

// Arguments of a party: its options.
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

func (c oursClient) handle(name string) handle { return &oursHandle{l: c.c.NewLock(name)} }
func (c oursClient) close()                    { c.c.Close() }

type oursHandle struct {
	l *rlock.Lock
	h *rlock.Hold
}

func (h *oursHandle) lock(ctx context.Context) (err error) {
	h.h, err = h.l.Lock(ctx)
	return err
}

func (h *oursHandle) unlock(ctx context.Context) error { return h.h.Unlock(ctx) }
