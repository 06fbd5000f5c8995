package virtual_test

import (
	"context"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// The lease of an unlock that is repeated ends while no server can be reached. What became of the repetition must not be read
// before its end, which the race detector sees. It takes real seconds: in a bubble, where all that happens has an order, the
// detector sees no race of two instants.
func TestRepetitionIsNotReadBeforeItsEnd(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := &rig{T: t, world: simnet.New(1)}
	var s *simredis.Set
	r.at(func() { s = simredis.NewSet(r.world, 2, 3) })
	time.Sleep(time.Second) // the Sentinels find each other, and the replicas follow
	c := must(rlock.Open(ctx, s.URL(), rlock.WithCommandTimeout(300*time.Millisecond), rlock.WithDialer(r.world.Dialer(host(1)))))(r)
	defer c.Close()
	must(0, must(c.NewLock("orders").Lock(ctx, rlock.Lease(2*time.Second)))(r).Unlock(ctx))(r)
	r.at(func() {
		s.Failover()
		for _, server := range s.Servers {
			r.world.Block(host(1), server.Addr, true)
		}
	})
	_, _ = c.NewLock("other").IsLocked(ctx) // so that it learns of the next master
	time.Sleep(5 * time.Second)
}
