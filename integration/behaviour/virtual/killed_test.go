package virtual_test

import (
	"context"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// An operator ends a script by SCRIPT KILL, which says that it had not written anything. The call sends it again, and nobody is
// told that its outcome is uncertain.
func TestScriptThatAnOperatorEndsIsSentAgain(t *testing.T) {
	ctx := context.Background()
	for _, text := range []string{
		"ERR Script killed by user with SCRIPT KILL... script: 694a5fe1ddb97a4c6a1bf299d9537c7d3d0f84e7, on @user_script:1.",
		"ERR Error running script (call to f_694a5fe1): @user_script:1: @user_script: 1: Script killed by user with SCRIPT KILL...",
	} {
		for what, call := range map[string]func(r *rig, c *rlock.Client, kills func()) error{
			"Unlock": func(r *rig, c *rlock.Client, kills func()) error {
				h := must(c.NewLock("orders").TryLock(ctx))(r)
				kills()
				return h.Unlock(ctx)
			},
			"Unlock of an owner that others may use": func(r *rig, c *rlock.Client, kills func()) error {
				h := must(c.NewLock("orders").TryLock(ctx))(r)
				_ = h.Owner().String()
				kills()
				return h.Unlock(ctx)
			},
			"UnlockAs": func(r *rig, c *rlock.Client, kills func()) error {
				h := must(c.NewLock("orders").TryLock(ctx))(r)
				other := r.open()
				kills()
				return other.NewLock("orders").UnlockAs(ctx, h.Owner())
			},
			"Extend": func(r *rig, c *rlock.Client, kills func()) error {
				h := must(c.NewLock("orders").TryLock(ctx, rlock.Lease(time.Minute)))(r)
				kills()
				if err := h.Extend(ctx, time.Hour); err != nil {
					return err
				}
				return h.Unlock(ctx)
			},
			"Release": func(r *rig, c *rlock.Client, kills func()) error {
				must(c.NewSemaphore("seats").TrySetPermits(ctx, 3))(r)
				kills()
				if err := c.NewSemaphore("seats").Release(ctx, 1); err != nil {
					return err
				}
				if n, err := c.NewSemaphore("seats").Available(ctx); n != 4 || err != nil {
					r.Errorf("%d permits, want 4; %v", n, err)
				}
				_, err := c.NewSemaphore("seats").Delete(ctx)
				return err
			},
			"Lock": func(r *rig, c *rlock.Client, kills func()) error {
				kills()
				h, err := c.NewLock("orders").Lock(ctx)
				if err != nil {
					return err
				}
				return h.Unlock(ctx)
			},
		} {
			t.Run(what, func(t *testing.T) {
				inBubble(t, func(r *rig) {
					killed := 0
					kills := func() {
						r.at(func() {
							r.server.Refuse = func(args []string) string {
								if args[0] != "EVALSHA" || killed == 2 {
									return ""
								}
								killed++
								return text
							}
						})
					}
					if err := call(r, r.open(), kills); err != nil || killed != 2 {
						t.Errorf("killed %d times: %v", killed, err)
					}
					r.at(func() {
						for _, key := range r.server.Keys() {
							if key == "orders" {
								t.Errorf("it is left: %s", r.server.Dump(key))
							}
						}
					})
				})
			})
		}
	}
}
