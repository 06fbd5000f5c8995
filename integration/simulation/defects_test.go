package simulation

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// The plays found each of these defects, and each has the smallest play that shows it.

// bubble runs f with one server and one client.
func bubble(t *testing.T, f func(t *testing.T, w *simnet.World, s *simredis.Server, c *rlock.Client)) {
	synctest.Test(t, func(t *testing.T) {
		w := simnet.New(1)
		w.Mu.Lock()
		s := simredis.New(w, "10.0.0.1:6379")
		w.Mu.Unlock()
		c, err := rlock.Open(t.Context(), "redis://10.0.0.1:6379", dialer(w, "10.1.0.1"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		f(t, w, s, c)
	})
}

// A call that found no connection returned up to two eighths of a command timeout after it.
func TestCallWithoutAConnectionReturnsInTime(t *testing.T) {
	bubble(t, func(t *testing.T, w *simnet.World, s *simredis.Server, c *rlock.Client) {
		if _, err := c.NewLock("before").TryLock(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.Mu.Lock()
		w.Block("10.1.0.1", s.Addr, true)
		for _, c := range w.Conns(func(*simnet.Conn) bool { return true }) {
			c.Break()
		}
		w.Mu.Unlock()
		for range 40 {
			time.Sleep(137 * time.Millisecond)
			began := time.Now()
			_, err := c.NewLock("l").TryLock(context.Background())
			if took := time.Since(began); took > oneTimeout {
				t.Errorf("TryLock returned after %v, its bound is %v: %v", took, oneTimeout, err)
			}
		}
	})
}
