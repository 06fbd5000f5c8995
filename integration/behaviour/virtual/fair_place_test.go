package virtual_test

import (
	"context"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// The first send of a fair lock's unlock is lost, and the next one meets a server that lacks the grant and has its waiter's place
// again. It finds no hold, which behind a lost send is success. The place must go all the same, or it keeps everyone out of the
// free lock for five minutes.
func TestFairUnlockWhoseSendWasLostLeavesThePlaceThatCameBack(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		other, c := r.open(rlock.WithReplicaSync(true)), r.open(rlock.WithReplicaSync(true))
		first := must(other.NewFairLock("orders").TryLock(ctx))(r)
		granted := make(chan *rlock.Hold, 1)
		go func() { granted <- must(c.NewFairLock("orders").Lock(ctx))(r) }()
		r.pass(time.Second)
		var saved simredis.Saved
		r.at(func() { saved = r.server.Save() })
		must(0, first.Unlock(ctx))(r)
		h := <-granted

		r.at(func() { r.world.Block(host(2), address, true) })
		ended := make(chan error, 1)
		go func() { ended <- h.Unlock(ctx) }()
		r.pass(100 * time.Millisecond)
		r.at(func() {
			r.server.Kill(false)
			r.world.Block(host(2), address, false)
		})
		r.pass(100 * time.Millisecond)
		r.at(func() { r.server.StartWith(saved) })
		if err := <-ended; err != nil {
			t.Error(err)
		}
		r.pass(10 * time.Second)
		r.at(func() {
			if left := r.server.Keys(); len(left) > 0 {
				t.Errorf("%q are left", left)
			}
		})
	})
}
