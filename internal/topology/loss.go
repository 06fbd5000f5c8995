package topology

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// A master that loses a replica may be about to be replaced by it. Whether it is,
// those tell who would have to agree: the Sentinels, or the masters of the cluster.
// They learn of a failover late, so the replica itself is asked too. See
// pipeline.Options.Stays.

// lossTimeout bounds one such question.
const lossTimeout = time.Second

// promoted begins to ask servers for their role. The function it gives waits, and
// tells whether any is a master.
func promoted(ctx context.Context, to *redisconn.Target, addrs []string) (any func() bool) {
	var asked sync.WaitGroup
	var found atomic.Bool
	for _, addr := range addrs {
		asked.Go(func() {
			_ = to.At(addr).Ask(ctx, 0, func(c redis.Conn) error { // or it is gone
				said, err := redis.Values(redisconn.Do(ctx, c, "ROLE"))
				if len(said) == 0 {
					return err
				}
				if role, _ := redis.String(said[0], nil); role == "master" {
					found.Store(true)
				}
				return nil
			})
		})
	}
	return func() bool {
		asked.Wait()
		return found.Load()
	}
}
