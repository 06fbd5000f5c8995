package locks

import (
	"testing"

	"github.com/rlock-go/redisson/internal/kind"
)

// The client's count of the replicas may be older than the replica that is promoted.
func TestUnlockIsRememberedHoweverManyAcknowledgedIt(t *testing.T) {
	t.Parallel()
	c, _ := slowReplicas(t)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := mustAcquire(t, &l)
	mustUnlock(t, h)
	defer l.shard.enter(mustNotBlock).leave()
	for u := range l.shard.past.each {
		if u.owner == h.state.Owner {
			return
		}
	}
	t.Error("it is not remembered")
}
