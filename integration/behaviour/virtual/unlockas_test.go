package virtual_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// UnlockAs first asks how long the key will live. Where that question is not answered, the call ends in time as well, though its
// client's clock is slower than the timer.
func TestUnlockAsWithoutAConnectionEndsInTime(t *testing.T) {
	const timeout = time.Second
	for offset := time.Duration(0); offset < timeout; offset += timeout / 16 {
		inBubble(t, func(r *rig) {
			start := time.Now()
			clock.Override(func() clock.Clock {
				return clock.Func(func() time.Duration { return time.Since(start) * 99 / 100 })
			})
			defer clock.Override(nil)
			c := r.open(rlock.WithCommandTimeout(timeout))
			owner := must(r.open().NewLock("orders").TryLock(context.Background()))(r).Owner()
			r.at(func() { r.cut(true) })
			time.Sleep(offset)
			began := time.Now()
			err := c.NewLock("orders").UnlockAs(context.Background(), owner)
			if took := time.Since(began); took > (4*timeout+time.Second+timeout/8)*101/100 {
				r.Errorf("it returned after %v: %v", took, err)
			}
		})
	}
}

// The server has run an Extend whose client has lost the connection for longer than the former leases. The client's holds are over, and
// the server still counts them. While nobody else acts as their owner, UnlockAs leaves none of them.
func TestUnlockAsOfAnOwnOwnerLeavesNothing(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		c := r.open(rlock.WithCommandTimeout(time.Second))
		l, o := c.NewLock("orders"), c.NewOwner()
		h := must(l.TryLock(ctx, rlock.As(o), rlock.Lease(5*time.Second)))(r)
		must(l.TryLock(ctx, rlock.As(o), rlock.Lease(5*time.Second)))(r)
		r.at(func() {
			r.server.Ran = func(s *simredis.Server, _ string, args []string, reply any) {
				if _, unknown := reply.(simredis.Error); args[0] == "EVALSHA" && !unknown {
					s.Ran = nil
					r.world.After(0, func() { r.world.Block(host(1), address, true) })
					for _, conn := range r.world.Conns(func(c *simnet.Conn) bool { return c.Server() == s.Addr }) {
						conn.Reset()
					}
				}
			}
		})
		if err := h.Extend(ctx, time.Hour); !errors.Is(err, rlock.ErrUncertain) {
			t.Errorf("the Extend: %v", err)
		}
		r.pass(10 * time.Second)
		r.at(func() { r.world.Block(host(1), address, false) })
		r.pass(5 * time.Second)
		r.at(func() {
			if n, _ := r.server.Field("orders", r.server.Fields("orders")[0]); n != "2" {
				t.Errorf("the server counts %s holds", n)
			}
		})
		must(0, l.UnlockAs(ctx, o))(r)
		r.at(func() {
			if r.server.Exists("orders") {
				t.Errorf("it is left: %s", r.server.Dump("orders"))
			}
		})
	})
}
