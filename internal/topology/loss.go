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
			deadline, _ := ctx.Deadline()
			conn, err := to.At(addr).Dial(ctx, time.Until(deadline))
			if err != nil {
				return // it is gone
			}
			defer conn.Close()
			said, err := redis.Values(redis.DoWithTimeout(conn, max(time.Until(deadline), time.Millisecond), "ROLE"))
			if err != nil || len(said) == 0 {
				return
			}
			if role, _ := redis.String(said[0], nil); role == "master" {
				found.Store(true)
			}
		})
	}
	return func() bool {
		asked.Wait()
		return found.Load()
	}
}
