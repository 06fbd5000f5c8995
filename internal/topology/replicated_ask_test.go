package topology

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// The error of Open would otherwise not say what the node's dialer or its TLS complains of.
func TestNodeThatGivesUpWithTheQuestionSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := parseReplicatedURL("redis+replicated://one:1,two:1")
		if err != nil {
			t.Fatal(err)
		}
		why := errors.New("the tunnel is closed")
		p.Target.Dialer = func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, why
		}
		r := newReplicated(p, Settings{Timeout: time.Second, Clock: clock.Monotonic()})
		defer r.Close(0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, w := range r.askAll(ctx, false) {
			if !errors.Is(w.err, why) {
				t.Error(w)
			}
		}
	})
}
