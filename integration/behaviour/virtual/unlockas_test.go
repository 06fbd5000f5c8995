package virtual_test

import (
	"context"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/rlock"
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
