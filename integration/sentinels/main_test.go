package sentinels_test

import (
	"context"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/rlock"
)

func TestMain(m *testing.M) { testbed.Main(m, "3") }

// farOff is far more than any failover here takes.
const farOff = time.Minute

func open(t *testing.T, url string, opts ...rlock.Option) *rlock.Client {
	t.Helper()
	c, err := rlock.Open(t.Context(), url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func lock(t *testing.T, c *rlock.Client, name string) *rlock.Hold {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), farOff)
	defer cancel()
	h, err := c.NewLock(name).Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func becomes(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(farOff); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came about: %s", what)
		}
	}
}

// holds tells whether the server has the hold. A master that is demoted ends its connections.
func holds(t *testing.T, s *redistest.Server, h *rlock.Hold) (yes bool) {
	t.Helper()
	becomes(t, "an answer", func() (answered bool) {
		var err error
		yes, err = redis.Bool(s.Dial(t).Do("HEXISTS", h.Name(), h.Owner().String()))
		return err == nil
	})
	return yes
}

// untilRenewed waits until the hold is trusted for longer than now.
func untilRenewed(t *testing.T, h *rlock.Hold) {
	t.Helper()
	until := h.ValidUntil()
	becomes(t, "renewed", func() bool { return h.ValidUntil().After(until) || h.Err() != nil })
}
