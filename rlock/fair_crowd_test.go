package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// When a crowd of waiters gives up, each of its places is removed, although its client is closed at once. The server's work
// per waiter does not grow with their number, so that no other client waits for long.
func TestCrowdOfFairWaitersLeaves(t *testing.T) {
	for _, crowd := range crowds {
		t.Run(fmt.Sprint(crowd), func(t *testing.T) {
			s := redistest.Start(t)
			conn := s.Dial(t)
			queue := codec.FairQueue("orders")
			holder := lock(t, openWith(t, s.URL()), "orders")
			c := openWith(t, s.URL(), rlock.WithCommandTimeout(time.Minute))
			fair := c.NewFairLock("orders")
			ctx, cancel := context.WithCancel(t.Context())
			var crowded sync.WaitGroup
			for range crowd {
				crowded.Go(func() {
					if _, err := fair.Lock(ctx); !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				})
			}
			becomes(t, "all have a place and listen", func() bool {
				places, err := redis.Int(conn.Do("LLEN", queue))
				listening, err2 := redis.Int(conn.Do("EVAL", "return #redis.call('pubsub', 'channels', 'redisson_lock__channel:*')", 0))
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				return places == crowd && listening == crowd
			})
			if _, err := conn.Do("CONFIG", "RESETSTAT"); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			cancel()
			crowded.Wait()
			gaveUp := time.Since(began)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			took := time.Since(began)
			calls := callsOf(t, conn, "zincrby", "lset", "lrem", "lrange", "zrem")
			t.Logf("gave up in %v, had left after %v; the server ran %.2f commands for each", gaveUp, took, float64(calls)/float64(crowd))
			if places, err := redis.Int(conn.Do("LLEN", queue)); err != nil || places != 0 {
				t.Errorf("%d places are left, %v", places, err)
			}
			if times, err := redis.Int(conn.Do("ZCARD", codec.FairTimes("orders"))); err != nil || times != 0 {
				t.Errorf("%d times are left, %v", times, err)
			}
			if calls > 10*crowd {
				t.Errorf("the server ran %d commands for %d that left", calls, crowd)
			}
			if err := holder.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
