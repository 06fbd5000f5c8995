package behaviour_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

func TestNothingIsLeftAfterReleaseAndClose(t *testing.T) {
	r, _ := own(t)
	already := goleak.IgnoreCurrent()
	ctx := context.Background() // goroutines of a test's context would be counted
	clients := make([]*rlock.Client, 3)
	for i := range clients {
		c, err := rlock.Open(ctx, r.Server.URL(), rlock.WithWatchdogTimeout(4*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		clients[i] = c
	}
	// Everything that a client can be kept busy with, for longer than some renewals.
	end := time.Now().Add(1500 * time.Millisecond)
	each(30, 30, func(i int) {
		for round := 0; time.Now().Before(end); round++ {
			l := clients[i%3].NewLock(fmt.Sprint("name-", (i+round)%5))
			var opts []rlock.AcquireOption
			if round%3 == 0 {
				opts = append(opts, rlock.Lease(time.Minute))
			}
			bounded, cancel := context.WithTimeout(ctx, time.Duration(1+round%7)*20*time.Millisecond)
			h, err := l.Lock(bounded, opts...)
			if err == nil {
				inner, err := l.TryLock(ctx, rlock.As(h.Owner()))
				if err != nil {
					t.Error(err)
				} else if err := inner.Unlock(ctx); err != nil {
					t.Error(err)
				}
				derived, free := h.Context(ctx)
				if err := h.Unlock(ctx); err != nil {
					t.Error(err)
				}
				<-derived.Done()
				free()
			}
			cancel()
		}
	})
	if len(r.others()) == 0 {
		t.Error("no connection is seen while the clients are open")
	}
	for _, c := range clients {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := goleak.Find(already); err != nil {
		t.Error(err)
	}
	r.Becomes("no connection is left", func() bool { return len(r.others()) == 0 })
	channels := slices.DeleteFunc(r.Strings("PUBSUB", "CHANNELS"), func(channel string) bool {
		return channel == "__sentinel__:hello" // the Sentinels' own
	})
	if len(channels) != 0 {
		t.Errorf("channels %v", channels)
	}
	pattern := "*"
	if redisserver.ChoosesSeveral() {
		// Others have left keys there, under other names.
		pattern = "*name-*"
		if channels := r.Strings("PUBSUB", "SHARDCHANNELS"); len(channels) != 0 {
			t.Errorf("sharded channels %v", channels)
		}
	}
	if keys := r.Strings("KEYS", pattern); len(keys) != 0 {
		t.Errorf("keys %v", keys)
	}
}
