//go:build before

package main

import (
	"context"

	"rlock.before/rlock"
)

func init() { openers[beforeP] = openBefore }

// beforeClient is oursClient of an earlier commit.
type beforeClient struct{ c *rlock.Client }

func openBefore(addr string) (client, error) {
	c, err := rlock.Open(context.Background(), "redis://"+addr)
	if err != nil {
		return nil, err
	}
	return beforeClient{c}, nil
}

func (c beforeClient) handle(name string) handle { return &beforeHandle{l: c.c.NewLock(name)} }
func (c beforeClient) close()                    { c.c.Close() }

type beforeHandle struct {
	l *rlock.Lock
	h *rlock.Hold
}

func (h *beforeHandle) lock(ctx context.Context) (err error) {
	h.h, err = h.l.Lock(ctx)
	return err
}

func (h *beforeHandle) unlock(ctx context.Context) error { return h.h.Unlock(ctx) }
