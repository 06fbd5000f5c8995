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
)

// The replicas hang, of which a Sentinel is about to promote one, and that Sentinel answers a tenth of a second later than the
// others. The client hears it, and lets nobody in for as long as that Sentinel waits for the replica, where it would do so after
// eleven seconds. One of the rows slows the one that leads.
func TestSentinelThatReplacesTheMasterIsHeardThoughItIsSlow(t *testing.T) {
	for slow := range 3 {
		t.Run(fmt.Sprint("Sentinel ", slow), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &rig{T: t, world: simnet.New(1)}
				var set *simredis.Set
				r.at(func() { set = simredis.NewSet(r.world, 2, 3) })
				r.pass(15 * time.Second)
				c := must(rlock.Open(context.Background(), set.URL(), rlock.WithDialer(r.world.Dialer(host(1)))))(r)
				defer c.Close()
				must(0, c.NewLock("orders").Do(context.Background(), nothing))(r)
				r.at(func() {
					r.world.Between(host(1), set.Sentinels[slow].Addr).Slow = 50 * time.Millisecond
					set.Servers[1].Paused, set.Servers[2].Paused = true, true
					set.Failover()
				})
				began := time.Now()
				for c.NewLock("orders").Do(context.Background(), nothing) != nil {
					r.pass(100 * time.Millisecond)
				}
				if entered := since(began); entered < 13*time.Second {
					t.Errorf("somebody entered after %v", entered)
				}
			})
		})
	}
}
