package rlock_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// A waiter without a subscription polls every second or so. It does not wait for the end of the lease if the server
// refuses new connections, or if the subscription is lost.
func TestWaiterThatNobodyTellsLooksEachSecond(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	type object interface {
		Lock(ctx context.Context, opts ...rlock.AcquireOption) (*rlock.Hold, error)
	}
	for name, of := range map[string]func(c *rlock.Client) (waits, holds object){
		"plain":        func(c *rlock.Client) (object, object) { return c.NewLock("k"), c.NewLock("k") },
		"fenced":       func(c *rlock.Client) (object, object) { return c.NewFencedLock("k"), c.NewFencedLock("k") },
		"nonreentrant": func(c *rlock.Client) (object, object) { return c.NewNonReentrantLock("k"), c.NewNonReentrantLock("k") },
		"fair":         func(c *rlock.Client) (object, object) { return c.NewFairLock("k"), c.NewFairLock("k") },
		"read": func(c *rlock.Client) (object, object) {
			return c.NewReadWriteLock("k").ReadLock(), c.NewReadWriteLock("k").WriteLock()
		},
		"write": func(c *rlock.Client) (object, object) {
			return c.NewReadWriteLock("k").WriteLock(), c.NewReadWriteLock("k").ReadLock()
		},
	} {
		for _, listened := range []bool{false, true} {
			title := name + ", never subscribed"
			if listened {
				title = name + ", subscription lost"
			}
			beside.Run(t, title, func(t *testing.T) {
				s := redistest.Start(t)
				conn := s.Dial(t)
				a, b := openWith(t, s.URL()), openWith(t, s.URL())
				_, holder := of(a)
				waiter, _ := of(b)
				h, err := holder.Lock(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := b.NewLock("other").IsLocked(t.Context()); err != nil {
					t.Fatal(err)
				}
				full := func() {
					if _, err := conn.Do("CONFIG", "SET", "maxclients", 1); err != nil {
						t.Fatal(err)
					}
				}
				if !listened {
					full()
				}
				entered := make(chan error, 1)
				go func() {
					h, err := waiter.Lock(t.Context())
					if err == nil {
						err = h.Unlock(t.Context())
					}
					entered <- err
				}()
				stat := func(what string) (n int) {
					info, err := redis.String(conn.Do("INFO"))
					if err != nil {
						t.Fatal(err)
					}
					_, after, _ := strings.Cut(info, what+":")
					for _, c := range after {
						if c < '0' || c > '9' {
							break
						}
						n = 10*n + int(c-'0')
					}
					return n
				}
				if listened {
					becomes(t, "it listens", func() bool { return stat("pubsub_clients")+stat("pubsub_channels") >= 1 })
					full()
					if _, err := conn.Do("CLIENT", "KILL", "TYPE", "pubsub"); err != nil {
						t.Fatal(err)
					}
				}
				becomes(t, "it can't subscribe", func() bool { return stat("rejected_connections") >= 2 })
				began := time.Now()
				if err := h.Unlock(t.Context()); err != nil {
					t.Fatal(err)
				}
				select {
				case err := <-entered:
					if err != nil {
						t.Error(err)
					}
					t.Log("it entered after", time.Since(began))
				case <-time.After(3 * time.Second):
					t.Error("it waits on beside a lock that is free")
					if _, err := conn.Do("CONFIG", "SET", "maxclients", 1000); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}
