package locks

import (
	"testing"

	"github.com/rlock-go/redisson/internal/kind"
)

// A queue that doesn't listen must not begin to when its slot moves. Queues are reused and keep their former fields.
func TestQueueThatDoesNotListenStaysSoWhenItsSlotMoves(t *testing.T) {
	t.Parallel()
	n := newName(t, "redis://localhost:1")
	l := n.lock.Client.NewLock(kind.Reentrant, "orders", "orders")
	defer n.lock.shard.enter(mustNotBlock).leave()
	q := n.ensureQueue(&l, Owner{})
	for range 2 {
		q.subscribe()
		if q.resubscribe(); len(q.subs) != 1 {
			t.Errorf("%d subscriptions of one that listens", len(q.subs))
		}
		q.unsubscribe()
		if q.resubscribe(); len(q.subs) != 0 {
			t.Errorf("%d subscriptions of one that does not", len(q.subs))
			q.unsubscribe()
		}
	}
	n.step()
}

// The last answer to a semaphore's waiters says nothing of the next name that uses their queue.
func TestReusedQueueForgetsThatNoPermitsWereSet(t *testing.T) {
	t.Parallel()
	n := newName(t, "redis://localhost:1")
	l := n.lock.Client.NewLock(kind.Reentrant, "orders", "orders")
	defer n.lock.shard.enter(mustNotBlock).leave()
	q := n.ensureQueue(&l, Owner{})
	q.unset = true
	q.Tick(n.lock.shard.Now())
	n.step() // nobody waits
	if n.queues != nil || n.ensureQueue(&l, Owner{}) != q || q.unset {
		t.Errorf("it is not reused, or it remembers: %t", q.unset)
	}
	n.step()
}
