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

// A replica that a master loses may be about to take its place. The servers that would
// have to agree know that: the Sentinels, or the masters of the cluster. They learn of
// a failover late, so the replica itself is asked too, at first. See pipeline.Node.

// lossTimeout bounds one such question.
const lossTimeout = time.Second

// stays asks the replicas that a master lost whether they are masters now. Meanwhile
// agree asks the servers that decide on a failover. Nil means that the master stays.
func stays(ctx context.Context, to *redisconn.Target, gone []string, agree func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, lossTimeout)
	defer cancel()
	var asked sync.WaitGroup
	var promoted atomic.Pointer[string]
	for _, addr := range gone {
		asked.Go(func() {
			_ = to.At(addr).Ask(ctx, 0, func(c redis.Conn) error { // an error means that it is unreachable, not promoted
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
