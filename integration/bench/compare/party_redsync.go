//go:build redsync

package main

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

func init() {
	openers[redsyncP] = func(o opening) (service, error) { return openRedsync(o, false) }
	openers[extendedP] = func(o opening) (service, error) { return openRedsync(o, true) }
}

type redsyncService struct {
	client  *redis.Client
	rs      *redsync.Redsync
	extends bool
}

func openRedsync(o opening, extends bool) (service, error) {
	client := goRedis(o)
	return redsyncService{client, redsync.New(goredis.NewPool(client)), extends}, nil
}

func (s redsyncService) lock(ctx context.Context, name string) (hold, error) {
	return s.extended(ctx, context.Background(), name)
}

func (s redsyncService) lockTied(ctx context.Context, name string) (hold, error) {
	return s.extended(ctx, ctx, name)
}

// extended is lock with a context of what extends it.
func (s redsyncService) extended(ctx, extending context.Context, name string) (hold, error) {
	m := s.rs.NewMutex(name, redsync.WithExpiry(lease), redsync.WithTries(math.MaxInt32))
	if err := m.LockContext(ctx); err != nil {
		return nil, err
	}
	h := &redsyncHold{m: m, until: new(atomic.Int64), stop: make(chan struct{}), ended: make(chan struct{})}
	h.until.Store(m.Until().UnixNano())
	if s.extends {
		go h.extend(extending)
	} else {
		close(h.ended)
	}
	return h, nil
}

func (s redsyncService) close() { s.client.Close() }

type redsyncHold struct {
	m           *redsync.Mutex
	until       *atomic.Int64
	lost        atomic.Bool
	stop, ended chan struct{}
}

// extend is what a caller writes who wants to hold for longer.
func (h *redsyncHold) extend(ctx context.Context) {
	defer close(h.ended)
	tick := time.NewTicker(lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-h.stop:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		ok, err := h.m.ExtendContext(ctx)
		if ok {
			h.until.Store(h.m.Until().UnixNano())
			continue
		}
		if _, taken := errors.AsType[*redsync.ErrTaken](err); taken || err == nil || errors.Is(err, redsync.ErrExtendFailed) || errors.Is(err, redsync.ErrLockAlreadyExpired) {
			h.lost.Store(true)
			return
		}
	}
}

func (h *redsyncHold) unlock(ctx context.Context) error {
	close(h.stop)
	<-h.ended
	ok, err := h.m.UnlockContext(ctx)
	if err == nil && !ok {
		err = errors.New("unlock failed")
	}
	return err
}

func (h *redsyncHold) over() bool { return h.lost.Load() || time.Now().UnixNano() > h.until.Load() }
