package topology

import (
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// hedgeAfter is how long a server may take before others are asked as well.
const hedgeAfter = 300 * time.Millisecond

// errSilent is the error while no server has answered.
var errSilent = errors.New("no server of the cluster has answered within the command timeout")

// askEach asks one server after the other until one answers without an error, or with a
// final one. While none answers, it asks one more, then two, four and so on, each time after
// hedgeAfter, so that many lost servers don't hide one that works. Otherwise it returns the
// last error, or the first permanent one. After a permanent error it need not wait for a
// silent server, which would say the same, or nothing.
func askEach[S any](ctx context.Context, servers []S, ask func(S, chan<- error), final func(error) bool) error {
	answers, failed := make(chan error, len(servers)), errSilent
	hedge := time.NewTimer(0)
	defer hedge.Stop()
	for open, more := 0, 0; ; {
		n := 1
		select {
		case <-hedge.C:
			n, more = max(more, 1), max(2*more, 1)
			if len(servers) == 0 && !redisconn.Permanent(failed) {
				continue
			}
		case err := <-answers:
			open--
			if err == nil || final(err) {
				return err
			}
			if !redisconn.Permanent(failed) {
				failed = err
			}
			if len(servers) == 0 && open > 0 {
				continue
			}
		case <-ctx.Done():
			return failed
		}
		if len(servers) == 0 {
			return failed
		}
		for _, s := range servers[:min(n, len(servers))] {
			ask(s, answers)
			servers, open = servers[1:], open+1
		}
		hedge.Reset(hedgeAfter)
	}
}
