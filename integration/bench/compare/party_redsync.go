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
)

func init() {
	openers[redsyncP] = func(o opening) (*service, error) { return openRedsync(o, false), nil }
	openers[extendedP] = func(o opening) (*service, error) { return openRedsync(o, true), nil }
}

func openRedsync(o opening, extends bool) *service {
	client := goRedis(o)
	rs := redsync.New(goredis.NewPool(client))
	// extending is the context of the renewals.
	lock := func(ctx, extending context.Context, name string) (hold, error) {
		m := rs.NewMutex(name, redsync.WithExpiry(lease), redsync.WithTries(math.MaxInt32))
		err := m.LockContext(ctx)
		h := &redsyncHold{m: m, stop: make(chan struct{}), ended: make(chan struct{})}
		h.until.Store(m.Until().UnixNano())
		if extends && err == nil {
			go h.extend(extending)
		} else {
			close(h.ended)
		}
		return hold{unlock: h.unlock, over: h.over}, err
	}
	return &service{
		lock:     func(ctx context.Context, name string) (hold, error) { return lock(ctx, context.Background(), name) },
		lockTied: func(ctx context.Context, name string) (hold, error) { return lock(ctx, ctx, name) },
		close:    func() { client.Close() },
	}
}

type redsyncHold struct {
	m           *redsync.Mutex
	until       atomic.Int64
	lost        atomic.Bool
	stop, ended chan struct{}
}

// extend is what a caller writes to hold the lock for longer.
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
