package main

import (
	"context"
	"fmt"

	"github.com/rlock-go/redisson/rlock"
)

// service stands for a process of its own: it has its own client, and so its
// own id and its own connections.
type service struct {
	name   string
	client *rlock.Client
	lock   *rlock.Lock
}

func openService(ctx context.Context, name, url string) (*service, error) {
	client, err := rlock.Open(ctx, url, rlock.WithWatchdogTimeout(watchdogTimeout))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &service{name: name, client: client}, nil
}

func (s *service) close() { _ = s.client.Close() }
