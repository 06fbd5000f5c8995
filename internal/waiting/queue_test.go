package waiting

import (
	"testing"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/section"
)

// A queue that doesn't listen must not begin to when its slot moves. Queues are reused and keep their former fields.
func TestQueueThatDoesNotListenStaysSoWhenItsSlotMoves(t *testing.T) {
	t.Parallel()
	n := newName(t, "redis://localhost:1")
	l := n.shard.c.NewLock(kind.Reentrant, "orders", "orders")
	defer n.shard.Enter(section.MustNotBlock).Leave()
	q := n.Ensure(&l, owner.Owner{})
	for range 2 {
		q.subscribe()
		if q.Resubscribe(); len(q.subs) != 1 {
			t.Errorf("%d subscriptions of one that listens", len(q.subs))
		}
		q.unsubscribe()
		if q.Resubscribe(); len(q.subs) != 0 {
			t.Errorf("%d subscriptions of one that does not", len(q.subs))
			q.unsubscribe()
		}
	}
	n.Step()
}

// The last answer to a semaphore's waiters says nothing of the next name that uses their queue.
func TestReusedQueueForgetsThatNoPermitsWereSet(t *testing.T) {
	t.Parallel()
	n := newName(t, "redis://localhost:1")
	l := n.shard.c.NewLock(kind.Reentrant, "orders", "orders")
	defer n.shard.Enter(section.MustNotBlock).Leave()
	q := n.Ensure(&l, owner.Owner{})
	q.Unset = true
	q.Tick(n.shard.Now())
	n.Step() // nobody waits
	if n.Queued() || n.Ensure(&l, owner.Owner{}) != q || q.Unset {
		t.Errorf("it is not reused, or it remembers: %t", q.Unset)
	}
	n.Step()
}
