//go:build rueidislock

package main

import (
	"context"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/rlock-go/redisson/internal/redistest"
)

func init() { openers[rueidisP] = openRueidis }

type rueidisService struct{ l rueidislock.Locker }

// openRueidis leaves NoLoopTracking off, which is the default: with it, an attempt that takes longer than TryNextAfter
// leaves its caller waiting for a notice that is held back. TryNextAfter is the command timeout that all parties have.
func openRueidis(o opening) (service, error) {
	client := rueidis.ClientOption{InitAddress: []string{o.addr}, ConnWriteTimeout: patience}
	client.Dialer.Timeout = patience
	switch {
	case o.sentinels != nil:
		client.InitAddress, client.Sentinel.MasterSet = o.sentinels, redistest.MasterName
	case o.cluster != nil:
		client.InitAddress = o.cluster
	}
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: client, KeyMajority: 1, KeyValidity: lease, ExtendInterval: lease / 3, TryNextAfter: patience,
	})
	if err != nil {
		return nil, err
	}
	return rueidisService{l}, nil
}

func (s rueidisService) lock(ctx context.Context, name string) (hold, error) {
	// A deadline would be the end of the hold too, so the wait ends by a cancel, and the hold has a context without either.
	held, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	c, release, err := s.l.WithContext(held, name)
	if !stop() && err == nil {
		release()
		err = ctx.Err()
	}
	if err != nil {
		cancel(err)
		return nil, err
	}
	return rueidisHold{c, release}, nil
}

func (s rueidisService) lockTied(ctx context.Context, name string) (hold, error) {
	c, release, err := s.l.WithContext(ctx, name)
	if err != nil {
		return nil, err
	}
	return rueidisHold{c, release}, nil
}

func (s rueidisService) force(ctx context.Context, name string) error {
	_, cancel, err := s.l.ForceWithContext(context.WithoutCancel(ctx), name)
	if err == nil {
		time.Sleep(time.Millisecond)
		cancel()
	}
	return err
}

func (s rueidisService) close() { s.l.Close() }

type rueidisHold struct {
	ctx     context.Context
	release context.CancelFunc
}

// unlock has no error to give: the library's release has none.
func (h rueidisHold) unlock(context.Context) error {
	h.release()
	return nil
}

func (h rueidisHold) over() bool { return h.ctx.Err() != nil }
