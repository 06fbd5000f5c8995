package behaviour_test

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

func TestLockWaitWakeUnlock(t *testing.T) {
	t.Parallel()
	everywhere(t, func(r *rig) {
		a, b := r.open(), r.open()
		name := r.name()
		l := a.NewLock(name)
		h := r.Lock(l)
		if n, err := l.HoldCount(r.Context(), h.Owner()); n != 1 || err != nil {
			r.Errorf("count %d, %v", n, err)
		}
		_, err := b.NewLock(name).TryLock(r.Context())
		wants(r, err, rlock.ErrLocked)
		_, err = b.NewLock(name).TryLockFor(r.Context(), 2*time.Second)
		wants(r, err, rlock.ErrLocked)
		r.Unlock(h)
		r.handOver(a, b)
		r.handOver(b, a)
		r.Becomes("nothing is left", func() bool {
			return r.Number("DBSIZE") == 0 && len(r.Strings("PUBSUB", "CHANNELS")) == 0
		})
	})
}
