package virtual_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// A grant that no replica acknowledges keeps others out for a second, and is given back. Between two such grants other clients
// get the lock, however many callers this client has.
func TestOthersEnterBetweenGrantsThatNoReplicaAcknowledges(t *testing.T) {
	inBubble(t, func(r *rig) {
		ctx, stop := context.WithCancel(context.Background())
		var replica *simredis.Server
		r.at(func() {
			replica = simredis.New(r.world, "10.0.0.2:6379")
			replica.SlaveOf(r.server)
		})
		r.pass(2 * time.Second)
		c, other := r.open(rlock.WithReplicaSync(true), rlock.WithCommandTimeout(time.Minute)), r.open() // nobody gives up
		l, theirs := c.NewLock("orders"), other.NewLock("orders")
		must(0, must(l.TryLock(ctx))(r).Unlock(ctx))(r)
		must(0, must(theirs.TryLock(ctx))(r).Unlock(ctx))(r)
		entered := map[string][]int{} // by host: how often the other client had entered at each grant
		r.at(func() {
			r.server.Ran = func(_ *simredis.Server, from string, args []string, reply any) {
				if args[0] == "EVALSHA" && reply == nil { // nothing but an acquire that is granted replies nothing
					entered[from] = append(entered[from], len(entered[host(2)]))
				}
			}
			replica.Paused = true
		})
		var callers sync.WaitGroup
		for i := range 6 {
			var opts []rlock.AcquireOption
			if i > 0 {
				opts = append(opts, rlock.As(c.NewOwner()))
			}
			callers.Go(func() {
				if h, err := l.Lock(ctx, opts...); err == nil {
					t.Error("a grant was kept that no replica has")
					_ = h.Unlock(ctx)
				}
			})
		}
		callers.Go(func() {
			for ; ctx.Err() == nil; <-time.After(10 * time.Millisecond) {
				if h, err := theirs.Lock(ctx); err == nil {
					_ = h.Unlock(ctx)
				}
			}
		})
		var mine []int
		for began := time.Now(); len(mine) < 3 && since(began) < time.Minute; r.pass(100 * time.Millisecond) {
			r.at(func() { mine = slices.Clone(entered[host(1)]) })
		}
		stop()
		if len(mine) < 3 || len(slices.Compact(mine)) < len(mine) {
			t.Errorf("of its grants, by how often others had entered: %v", mine)
		}
		r.at(func() { replica.Resume() })
		callers.Wait()
	})
}
