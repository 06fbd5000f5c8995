package main

import (
	"context"
	"errors"
	"log"
	"os"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/docs/cookbook/internal/keyserver"
	"github.com/rlock-go/redisson/rlock"
)

// An elector's scheduler runs all jobs while its process leads, and none at other times. Meanwhile the
// key leaderAt has the leader's address, for those who ask where that is.
type elector struct {
	address string
	leads   atomic.Pointer[context.Context] // of the time for which this process leads; nil: it doesn't
}

const (
	leaderAt  = "{jobs}:leader"
	published = 3 * time.Second // how long the address stays after its leader's last word
)

var errFollows = errors.New("another process leads")

// IsLeader is called before each run of a job. The error of the leader's context is never late: it
// asks the lock by the clock.
func (e *elector) IsLeader(context.Context) error {
	if ctx := e.leads.Load(); ctx == nil || (*ctx).Err() != nil {
		return errFollows
	}
	return nil
}

// campaign leads whenever this process can, until ctx ends.
func (e *elector) campaign(ctx context.Context, lock *rlock.Lock) {
	err := lock.Lead(ctx, func(ctx context.Context) error {
		e.leads.Store(&ctx)
		defer e.leads.Store(nil)
		for ctx.Err() == nil {
			if err := e.publish(ctx); err != nil && ctx.Err() == nil {
				log.Print(err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(published / 3):
			}
		}
		return nil
	})
	if ctx.Err() == nil {
		log.Print(err)
	}
}

// publish says where the leader is, for a few seconds. If a former leader that stood still says it
// too late, the present one says it again within a second.
func (e *elector) publish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, published/3)
	defer cancel()
	store, err := keyserver.Dial(ctx, os.Getenv("REDIS_URL"), leaderAt)
	if err != nil {
		return err
	}
	defer store.Close()
	_, err = redis.DoContext(store, ctx, "SET", leaderAt, e.address, "PX", published.Milliseconds())
	return err
}
