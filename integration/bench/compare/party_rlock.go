package main

import (
	"context"

	"github.com/rlock-go/redisson/rlock"
)

type ourService struct{ c *rlock.Client }

func openOurs(o opening) (service, error) {
	// The pool is not for the caller to size: one connection for commands, one for subscriptions.
	c, err := rlock.Open(context.Background(), o.url(), rlock.WithWatchdogTimeout(lease), rlock.WithCommandTimeout(patience))
	if err != nil {
		return nil, err
	}
	return ourService{c}, nil
}

func (s ourService) lock(ctx context.Context, name string) (hold, error) {
	h, err := s.c.NewLock(name).Lock(ctx)
	if err != nil {
		return nil, err
	}
	return ourHold{h}, nil
}

func (s ourService) force(ctx context.Context, name string) error {
	_, err := s.c.NewLock(name).ForceUnlock(ctx)
	return err
}

func (s ourService) close() { s.c.Close() }

type ourHold struct{ h *rlock.Hold }

func (h ourHold) unlock(ctx context.Context) error { return h.h.Unlock(ctx) }
func (h ourHold) over() bool                       { return h.h.Err() != nil }
