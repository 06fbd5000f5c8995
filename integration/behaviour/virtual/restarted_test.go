package virtual_test

import (
	"context"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// R4: a server that was started again is another process, which can't say what became of the former one's connections, and for two seconds
// no slot is served. No owner is in doubt for that, although its unlock was lost.
func TestUnlockThatARestartedMasterOfAClusterLostLeavesNoDoubt(t *testing.T) {
	ctx := context.Background()
	for name, silent := range map[string]bool{"its process ends": false, "its host is gone": true} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, "orders", func(o *openSlot) {
				l, owner := o.client.NewLock("orders"), o.client.NewOwner()
				h := must(l.Lock(ctx, rlock.As(owner)))(o.rig)
				o.at(func() { o.from.Paused = true })
				done := make(chan error, 1)
				go func() { done <- h.Unlock(ctx) }()
				o.pass(time.Second)
				o.at(func() { o.from.Kill(silent); o.from.Start(true) })
				if err := <-done; err != nil {
					t.Errorf("the unlock: %v", err)
				}
				must(l.TryLock(ctx, rlock.As(owner)))(o.rig)
			})
		})
	}
}
