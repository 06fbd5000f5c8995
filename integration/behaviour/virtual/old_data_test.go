package virtual_test

import (
	"context"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// A server that starts again with older data, like a promoted replica, may lack what set a lease last. A lease that is not
// renewed by its terms is then set once more, so that the key lasts for as long as its holder was told.
func TestLeaseOutlivesAServerThatLacksItsLastCommand(t *testing.T) {
	type held interface {
		Err() error
		ValidUntil() time.Time
	}
	ctx := context.Background()
	for name, hold := range map[string]func(*rig, *rlock.Client) (held, func() error){
		"extended": func(r *rig, c *rlock.Client) (held, func() error) {
			h := must(c.NewLock("orders").Lock(ctx, rlock.Lease(10*time.Second)))(r)
			return h, func() error { return h.Extend(ctx, time.Minute) }
		},
		"renewed last before its MaxHold": func(r *rig, c *rlock.Client) (held, func() error) {
			h := must(c.NewLock("orders").Lock(ctx, rlock.MaxHold(15*time.Second)))(r)
			return h, func() error { r.pass(14 * time.Second); return nil }
		},
		"to write": func(r *rig, c *rlock.Client) (held, func() error) {
			h := must(c.NewReadWriteLock("orders").WriteLock().Lock(ctx, rlock.Lease(10*time.Second)))(r)
			return h, func() error { return h.Extend(ctx, time.Minute) }
		},
		"permits": func(r *rig, c *rlock.Client) (held, func() error) {
			s := c.NewPermitSemaphore("orders")
			must(s.TrySetPermits(ctx, 2))(r)
			p := must(s.Acquire(ctx, 1, rlock.Lease(10*time.Second)))(r)
			return p, func() error { return p.Extend(ctx, time.Minute) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				c := r.open()
				h, last := hold(r, c)
				var saved simredis.Saved
				r.at(func() { saved = r.server.Save() })
				r.pass(time.Second)
				if err := last(); err != nil {
					t.Fatal(err)
				}
				until := h.ValidUntil()
				r.at(func() { r.server.Kill(false) })
				r.pass(100 * time.Millisecond)
				r.at(func() { r.server.StartWith(saved) })
				r.pass(time.Second)
				if now := h.ValidUntil(); now.Before(until) {
					t.Errorf("valid until %v, which was %v", now, until)
				}
				r.pass(time.Until(h.ValidUntil()) - time.Millisecond)
				if err := h.Err(); err != nil {
					t.Error(err)
				}
				r.at(func() {
					if !r.server.Exists("orders") {
						t.Error("the key has gone, and its holder trusts it")
					} else if name == "permits" && len(r.server.Members("{orders}:timeout")) != 1 {
						t.Error("the permit is not taken any more")
					}
				})
			})
		})
	}
}
