package sentinels_test

import (
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/stalls"
	"github.com/rlock-go/redisson/rlock"
)

func TestMain(m *testing.M) { testbed.Main(m, "6", stalls.Watch()) }

const farOff = time.Minute

var lock, unlock = testbed.Lock, testbed.Unlock

// holds reports whether the server has the hold. It dials anew, since a master that is demoted ends its connections.
func holds(t *testing.T, s *redistest.Server, h *rlock.Hold) (yes bool) {
	t.Helper()
	testbed.BecomesWithin(t, farOff, "an answer", func() (answered bool) {
		var err error
		yes, err = redis.Bool(s.Dial(t).Do("HEXISTS", h.Name(), h.Owner().String()))
		return err == nil
	})
	return yes
}

func untilRenewed(t *testing.T, h *rlock.Hold, until time.Time) {
	t.Helper()
	testbed.BecomesWithin(t, farOff, "renewed", func() bool { return h.ValidUntil().After(until.Add(10*time.Millisecond)) || h.Err() != nil })
}
