package topology

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// A replica that a master loses may be about to take its place. The servers that would
// have to agree know that: the Sentinels, or the masters of the cluster. They learn of
// a failover late, so the replica itself is asked too, at first. See pipeline.Node.

// lossTimeout bounds one such question.
const lossTimeout = time.Second

// errPromoted is why a master may have been replaced although nobody says so.
var errPromoted = errors.New("which was its replica, is a master")

// found is what has become of the replicas that a master lost.
type found struct {
	next error // one of them may be the next master; nil: none is
	dead bool  // each was asked, and refused the connection: none can be promoted
}

// find asks the replicas that a master lost what they are now. left tells whether one that
// is a master has only left.
func find(ctx context.Context, to *redisconn.Target, gone []string, left func(context.Context, redis.Conn) bool) found {
	var asked sync.WaitGroup
	var promoted atomic.Pointer[string]
	var refused atomic.Int64
	for _, addr := range gone {
		asked.Go(func() {
			err := to.At(addr).Ask(ctx, 0, func(c redis.Conn) error { // another error means that it is unreachable, not promoted
				var role string
				said, _ := redis.Values(redisconn.Do(ctx, c, "ROLE"))
				_, err := redis.Scan(said, &role)
				if role == "master" && !left(ctx, c) {
					promoted.Store(&addr)
				}
				return err
			})
			if errors.Is(err, syscall.ECONNREFUSED) {
				refused.Add(1)
			}
		})
	}
	asked.Wait()
	f := found{dead: len(gone) > 0 && int(refused.Load()) == len(gone)}
	if next := promoted.Load(); next != nil {
		f.next = fmt.Errorf("%s, %w", *next, errPromoted)
	}
	return f
}
