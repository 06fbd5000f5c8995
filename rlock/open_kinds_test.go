package rlock_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// A server that is not of the URL's topology is the same error for Open and for each call of a client that did not
// wait for it.
func TestWrongServerIsTheSameErrorForEachCall(t *testing.T) {
	t.Parallel()
	sentinels := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	sentinel, _, _ := strings.Cut(sentinels.Addrs(), ",")
	servers := map[string]string{
		"plain":    redistest.Start(t).Addr(),
		"sentinel": sentinel,
		"cluster":  topologytest.Start(t, 1).Servers[0].Addr(),
	}
	for _, scheme := range []string{"redis", "redis+sentinel", "redis+cluster", "redis+replicated"} {
		for server, addr := range servers {
			url := scheme + "://" + addr
			if scheme == "redis+sentinel" {
				url += "/" + redistest.MasterName
			}
			t.Run(scheme+" to "+server, func(t *testing.T) {
				t.Parallel()
				opts := []rlock.Option{rlock.WithCommandTimeout(soonEnough)}
				fits := scheme == "redis+"+server || server == "plain" && (scheme == "redis" || scheme == "redis+replicated")
				var all sync.WaitGroup
				defer all.Wait()
				all.Go(func() {
					c, err := rlock.Open(t.Context(), url, opts...)
					switch {
					case err == nil:
						c.Close()
						if !fits {
							t.Error("Open takes the server")
						}
					case fits:
						t.Error(err)
					default:
						isOf(t, "Open", err, rlock.ErrInvalidOption)
						if !strings.Contains(err.Error(), "redis+"+server) && !strings.Contains(err.Error(), "redis://[user") {
							t.Errorf("Open names no URL to use: %v", err)
						}
					}
				})
				c, err := rlock.Open(t.Context(), url, append(opts, rlock.WithLazyConnect())...)
				if err != nil {
					t.Fatal(err)
				}
				var made sync.WaitGroup
				defer func() { made.Wait(); c.Close() }()
				for what, call := range calls(t.Context(), c, scheme+server) {
					made.Go(func() {
						if err := call(); fits && err != nil {
							t.Errorf("%s: %v", what, err)
						} else if !fits {
							isOf(t, what, err, rlock.ErrInvalidOption)
						}
					})
				}
			})
		}
	}
}

// calls are calls of each sort that need a server, without those that go on in spite of errors.
func calls(ctx context.Context, c *rlock.Client, name string) map[string]func() error {
	l, seats, rooms, latch := c.NewLock(name), c.NewPermitSemaphore(name+"p"), c.NewSemaphore(name+"s"), c.NewCountDownLatch(name+"l")
	hold := func(h *rlock.Hold, err error) error {
		if err == nil {
			err = h.Unlock(ctx)
		}
		return err
	}
	return map[string]func() error{
		"Lock":       func() error { return hold(l.Lock(ctx)) },
		"TryLock":    func() error { return hold(c.NewLock(name + "2").TryLock(ctx)) },
		"TryLockFor": func() error { return hold(c.NewFairLock(name+"3").TryLockFor(ctx, 3*time.Second)) },
		"Do":         func() error { return l.Do(ctx, func(context.Context) error { return nil }) },
		"MultiLock": func() error {
			return rlock.NewMultiLock(l, c.NewLock(name+"4")).Do(ctx, func(context.Context) error { return nil })
		},
		"IsLocked":    func() error { return second(l.IsLocked(ctx)) },
		"ForceUnlock": func() error { return second(c.NewLock(name + "5").ForceUnlock(ctx)) },
		"Available":   func() error { return second(seats.Available(ctx)) },
		"SetPermits":  func() error { return seats.SetPermits(ctx, 1) },
		"Delete":      func() error { return second(seats.Delete(ctx)) },
		"AddPermits":  func() error { return rooms.AddPermits(ctx, 1) },
		"Await":       func() error { return latch.Await(ctx) },
	}
}

func second[T any](_ T, err error) error { return err }
