package lockstate

import (
	"testing"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/section"
)

// The client's count of the replicas may be older than the replica that is promoted.
func TestUnlockIsRememberedHoweverManyAcknowledgedIt(t *testing.T) {
	t.Parallel()
	c, _ := slowReplicas(t)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := mustAcquire(t, &l)
	mustUnlock(t, h)
	defer l.Shard.Enter(section.MustNotBlock).Leave()
	for u := range l.Shard.Past.Each {
		if u.Owner == h.State.Owner {
			return
		}
	}
	t.Error("it is not remembered")
}
