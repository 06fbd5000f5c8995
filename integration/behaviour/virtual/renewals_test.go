package virtual_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
	"github.com/rlock-go/redisson/watchdog"
)

// Holds of one slot that were acquired at different times share one script, so that there are as many scripts as slots in use,
// not as holds.
func TestHoldsOfASlotAreRenewedByOneScript(t *testing.T) {
	const holds, slots, lease, thirds = 600, 40, 30 * time.Second, 3
	ctx := context.Background()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t, world: simnet.New(1)}
		scripts := 0 // guarded by the world's lock
		var url string
		r.at(func() {
			c := simredis.NewCluster(r.world, 3, 1)
			for _, s := range c.Servers {
				s.Ran = func(_ *simredis.Server, _ string, args []string, _ any) {
					if args[0] == "EVALSHA" {
						scripts++
					}
				}
			}
			url = c.URL()
		})
		client := must(rlock.Open(ctx, url, rlock.WithWatchdogTimeout(lease), rlock.WithDialer(r.world.Dialer(host(1)))))(r)
		defer client.Close()
		var all []*rlock.Hold
		for i := range holds {
			all = append(all, must(client.NewLock(fmt.Sprintf("{tag-%d}:%d", i%slots, i)).TryLock(ctx))(r))
			r.pass(lease / 3 / holds)
		}
		r.pass(lease / 3) // all were renewed once
		r.at(func() { scripts = 0 })
		r.pass(thirds * lease / 3)
		r.at(func() {
			// A script follows the one before it by a third and its way to the server, so the end of the time may cut one off.
			const least, most = (thirds - 1) * slots, thirds * (slots + holds/watchdog.MaxBatch)
			if scripts < least || scripts > most {
				t.Errorf("%d scripts for %d holds in %d slots, want %d to %d", scripts, holds, slots, least, most)
			}
		})
		for _, h := range all {
			if err := h.Err(); err != nil {
				t.Fatalf("%s: %v", h.Name(), err)
			}
		}
	})
}
