//go:build rueidislock

package main

import (
	"context"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func init() { openers[rueidisP] = openRueidis }

// openRueidis leaves NoLoopTracking off, the default: with it, the caller of an attempt that takes longer than
// TryNextAfter waits for a notification that is withheld. TryNextAfter is the command timeout of all parties.
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
			// A deadline in ctx would end the hold too, so ctx only cancels the wait, and the hold has no deadline.
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

// rueidisHold returns no error of an unlock, since the library's release has none.
func rueidisHold(ctx context.Context, release context.CancelFunc) hold {
	return hold{
		unlock: func(context.Context) error {
			release()
			return nil
		},
		over: func() bool { return ctx.Err() != nil },
	}
}
