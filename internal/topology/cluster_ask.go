package topology

import (
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// hedgeAfter is how long a server may take before the next one is asked as well.
const hedgeAfter = 300 * time.Millisecond

// errSilent is the error while no server has answered.
var errSilent = errors.New("no server of the cluster has answered within the command timeout")

// askEach asks one server after the other, and the next one already if one is slow, until
// one answers without an error, or with a final one. Otherwise it returns the last error,
// or the first permanent one. After a permanent error it need not wait for a silent
// server, which would say the same, or nothing.
func askEach[S any](ctx context.Context, servers []S, ask func(S, chan<- error), final func(error) bool) error {
	answers, failed := make(chan error, len(servers)), errSilent
	hedge := time.NewTimer(0)
	defer hedge.Stop()
	for open := 0; ; {
		select {
		case <-hedge.C:
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
		ask(servers[0], answers)
		servers, open = servers[1:], open+1
		hedge.Reset(hedgeAfter)
	}
}
