package behaviour_test

import (
	"context"
	"sync"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

func TestIncrementsAreExact(t *testing.T) {
	const goroutines, increments = 16, 100
	r := start(t)
	for behaviour, clients := range map[string]int{"one client": 1, "two clients": 2} {
		t.Run(behaviour, func(t *testing.T) {
			name := r.name()
			locks := make([]*rlock.Lock, clients)
			for i := range locks {
				locks[i] = r.open().NewLock(name)
			}
			counter := name + "/counter"
			defer r.Do("DEL", counter)
			var all sync.WaitGroup
			for g := range goroutines {
				conn := redisserver.Dial(t, r.Server)
				all.Go(func() {
					for range increments {
						err := locks[g%clients].Do(t.Context(), func(context.Context) error {
							// Read and write apart: only exclusion makes the sum right.
							n, err := redis.Int(conn.Do("GET", counter))
							if err != nil && err != redis.ErrNil {
								return err
							}
							_, err = conn.Do("SET", counter, n+1)
							return err
						})
						if err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			if n := r.Number("GET", counter); n != goroutines*increments {
				t.Errorf("counted %d, want %d", n, goroutines*increments)
			}
		})
	}
	t.Run("plain memory under the race detector", func(t *testing.T) {
		l := r.open().NewLock(r.name())
		total := 0
		var all sync.WaitGroup
		for range goroutines {
			all.Go(func() {
				for range increments {
					if err := l.Do(t.Context(), func(context.Context) error { total++; return nil }); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		if total != goroutines*increments {
			t.Errorf("counted %d", total)
		}
	})
}
