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

// openRueidis leaves NoLoopTracking off, which is the default: with it, an attempt that takes longer than TryNextAfter
// leaves its caller waiting for a notice that is held back. TryNextAfter is the command timeout that all parties have.
func openRueidis(o opening) (*service, error) {
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
	return &service{
		lock: func(ctx context.Context, name string) (hold, error) {
			// A deadline would be the end of the hold too, so the wait ends by a cancel, and the hold has a context without either.
			held, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
			stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
			c, release, err := l.WithContext(held, name)
			if !stop() && err == nil {
				release()
				err = ctx.Err()
			}
			if err != nil {
				cancel(err)
			}
			return rueidisHold(c, release), err
		},
		lockTied: func(ctx context.Context, name string) (hold, error) {
			c, release, err := l.WithContext(ctx, name)
			return rueidisHold(c, release), err
		},
		force: func(ctx context.Context, name string) error {
			_, cancel, err := l.ForceWithContext(context.WithoutCancel(ctx), name)
			if err == nil {
				time.Sleep(time.Millisecond)
				cancel()
			}
			return err
		},
		close: func() { l.Close() },
	}, err
}

// rueidisHold has no error of an unlock to give: the library's release has none.
func rueidisHold(ctx context.Context, release context.CancelFunc) hold {
	return hold{
		unlock: func(context.Context) error {
			release()
			return nil
		},
		over: func() bool { return ctx.Err() != nil },
	}
}
