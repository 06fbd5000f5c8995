package topology

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// A master that loses a replica may be about to be replaced by it. Whether it is,
// those tell who would have to agree: the Sentinels, or the masters of the cluster.
// They learn of a failover late, so the replica itself is asked too. See
// pipeline.Node.

// lossTimeout bounds one such question.
const lossTimeout = time.Second

// stays asks those that a master has lost whether they are masters, and meanwhile,
// by agree, those who would have to agree whether it is in its place. Nil: it is.
func stays(ctx context.Context, to *redisconn.Target, gone []string, agree func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, lossTimeout)
	defer cancel()
	var asked sync.WaitGroup
	var promoted atomic.Pointer[string]
	for _, addr := range gone {
		asked.Go(func() {
			_ = to.At(addr).Ask(ctx, 0, func(c redis.Conn) error { // or it is gone
				var role string
				said, _ := redis.Values(redisconn.Do(ctx, c, "ROLE"))
				_, err := redis.Scan(said, &role)
				if role == "master" {
					promoted.Store(&addr)
				}
				return err
			})
		})
	}
	doubt := agree(ctx)
	asked.Wait()
	if next := promoted.Load(); next != nil {
		return fmt.Errorf("%s, which was its replica, is a master", *next)
	}
	return doubt
}
