//go:build rueidislock

package main

import (
	"context"
	"strings"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

func init() { openers[rueidisP] = openRueidis }

// openRueidis uses one key instead of a majority of three, since there is one server, and NoLoopTracking, which the
// documentation recommends for speed. TryNextAfter must then be raised. With its default of 20 ms, an attempt that a
// busy machine delays longer is given up and its key deleted. The caller then waits for a notification of that
// deletion, which NoLoopTracking keeps from the connection that deleted it. So a caller of a name that nobody else uses
// waits for ever; this was seen at 128 and 1,024 callers. Without NoLoopTracking the default does not hang, at about
// the same speed. For a cluster, addr has several addresses.
func openRueidis(addr string) (client, error) {
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: strings.Split(addr, ",")},
		KeyMajority:    1,
		NoLoopTracking: true,
		TryNextAfter:   3 * time.Second,
	})
	lock := func(name string) handle {
		return holding(func(ctx context.Context) (context.CancelFunc, error) {
			_, cancel, err := l.WithContext(ctx, name)
			return cancel, err
		}, func(cancel context.CancelFunc, _ context.Context) error {
			cancel() // returns when the key is deleted
			return nil
		})
	}
	return client{lock, func() { l.Close() }}, err
}
