package virtual_test

import (
	"context"
	"errors"
	"net"
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
