package virtual_test

import (
	"context"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// Neither of these releases is handed on, and no message tells of them. So the pause of a waiter of the same client ends with them.
func TestReleaseOfAClientEndsThePauseOfItsSpinningWaiter(t *testing.T) {
	ctx := context.Background()
	for name, foreign := range map[string]bool{"UnlockAs": true, "an Unlock that runs when AtLeast is over": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				l := r.open().NewSpinLock("orders")
				holder, release := l, (*rlock.Hold).Unlock
				if foreign {
					holder = r.open().NewSpinLock("orders")
					release = func(h *rlock.Hold, ctx context.Context) error { return l.UnlockAs(ctx, h.Owner()) }
				}
				r.at(func() {
					r.server.Refuse = func(args []string) string {
						if args[0] == "EVALSHA" && args[1] == luasrc.UnlockKeepScript.SHA1 {
							return "NOREPLICAS Not enough good replicas to write."
						}
						return ""
					}
				})
				for range 5 {
					var opts []rlock.AcquireOption
					if !foreign {
						opts = append(opts, rlock.AtLeast(time.Second))
					}
					h := must(holder.TryLock(ctx, opts...))(r)
					entered := make(chan time.Time, 1)
					go func() {
						must(0, l.Do(ctx, func(context.Context) error { entered <- time.Now(); return nil }))(r)
					}()
					r.pass(700 * time.Millisecond) // its pauses are at their longest
					must(0, release(h, ctx))(r)
					released := time.Now()
					if late := (<-entered).Sub(released); late > 5*time.Millisecond {
						t.Errorf("it entered %v after the release", late)
					}
					r.pass(time.Second)
				}
			})
		})
	}
}
