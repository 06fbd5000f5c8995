package virtual_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// A client that was opened before its servers can be reached answers as in an outage until they can, and then works.
func TestLazyClientWorksOnceItsServersCanBeReached(t *testing.T) {
	const timeout = 3 * time.Second
	for name, servers := range map[string]func(w *simnet.World) (url string){
		"one server": func(w *simnet.World) string { simredis.New(w, address); return "redis://" + address },
		"Sentinels":  func(w *simnet.World) string { return simredis.NewSet(w, 1, 3).URL() },
		"cluster":    func(w *simnet.World) string { return simredis.NewCluster(w, 3, 1).URL() },
		"replicated": func(w *simnet.World) string {
			master, replica := simredis.New(w, address), simredis.New(w, "10.0.0.2:6379")
			replica.SlaveOf(master)
			return "redis+replicated://" + address + ",10.0.0.2:6379"
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				world := simnet.New(1)
				world.Mu.Lock()
				url := servers(world)
				world.Mu.Unlock()
				reach := world.Dialer(host(1))
				can := false // guarded by the world's lock
				began := time.Now()
				c, err := rlock.Open(context.Background(), url, rlock.WithLazyConnect(), rlock.WithCommandTimeout(timeout), rlock.WithDialer(
					func(ctx context.Context, network, addr string) (_ net.Conn, _ error) {
						world.Mu.Lock()
						reachable := can
						world.Mu.Unlock()
						if !reachable {
							return nil, errors.New("no route")
						}
						return reach(ctx, network, addr)
					}))
				if err != nil || time.Since(began) != 0 {
					t.Fatalf("opened after %v: %v", time.Since(began), err)
				}
				defer c.Close()
				if _, err := c.NewLock("orders").TryLock(context.Background()); !errors.Is(err, rlock.ErrUnavailable) {
					t.Errorf("before: %v", err)
				}
				waits := make(chan error, 1)
				go func() {
					h, err := c.NewLock("orders").Lock(context.Background(), rlock.Wait(time.Minute))
					if err == nil {
						err = h.Unlock(context.Background())
					}
					waits <- err
				}()
				time.Sleep(timeout / 2)
				world.Mu.Lock()
				can = true
				world.Mu.Unlock()
				if err := <-waits; err != nil {
					t.Errorf("a wait that began before: %v", err)
				}
				if h, err := c.NewLock("orders").TryLock(context.Background()); err != nil {
					t.Errorf("afterwards: %v", err)
				} else if err := h.Unlock(context.Background()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A password or a database that its servers don't have is the error of each call of a client that did not wait for them.
func TestLazyClientWithAWrongPasswordOrDatabaseIsRefused(t *testing.T) {
	for name, servers := range map[string]func(w *simnet.World) (url string, all []*simredis.Server){
		"one server": func(w *simnet.World) (string, []*simredis.Server) {
			return "redis://" + address, []*simredis.Server{simredis.New(w, address)}
		},
		"Sentinels": func(w *simnet.World) (string, []*simredis.Server) {
			set := simredis.NewSet(w, 1, 3)
			return set.URL(), set.Servers
		},
		"cluster": func(w *simnet.World) (string, []*simredis.Server) {
			c := simredis.NewCluster(w, 3, 0)
			return c.URL(), c.Masters()
		},
		"replicated": func(w *simnet.World) (string, []*simredis.Server) {
			set := simredis.NewSet(w, 1, 0)
			return "redis+replicated://" + address + ",10.0.0.2:6379", set.Servers
		},
	} {
		for wrong, change := range map[string]func(url string, all []*simredis.Server) string{
			"password": func(url string, all []*simredis.Server) string {
				for _, s := range all {
					s.Password = "sesame"
				}
				return strings.Replace(url, "://", "://:mellon@", 1)
			},
			"database": func(url string, _ []*simredis.Server) string { return url + "/99" },
		} {
			if name == "cluster" && wrong == "database" {
				continue // its URL has none
			}
			t.Run(name+", "+wrong, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					world := simnet.New(1)
					world.Mu.Lock()
					url := change(servers(world))
					world.Mu.Unlock()
					c, err := rlock.Open(t.Context(), url, rlock.WithLazyConnect(), rlock.WithDialer(world.Dialer(host(1))))
					if err != nil {
						t.Fatal(err)
					}
					defer c.Close()
					l := c.NewLock("orders")
					for call, do := range map[string]func() error{
						"TryLock": func() error { _, err := l.TryLock(t.Context()); return err },
						"Lock":    func() error { _, err := l.Lock(t.Context(), rlock.Wait(time.Minute)); return err },
						"Do": func() error {
							return l.Do(t.Context(), func(context.Context) error { return nil }, rlock.Wait(time.Minute))
						},
						"IsLocked": func() error { _, err := l.IsLocked(t.Context()); return err },
						"Acquire":  func() error { return c.NewSemaphore("seats").Acquire(t.Context(), 1, rlock.Wait(time.Minute)) },
					} {
						if err := do(); !errors.Is(err, rlock.ErrRefused) {
							t.Errorf("%s: %v", call, err)
						}
					}
				})
			})
		}
	}
}
