package lockstate

import (
	"testing"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/section"
)

// A queue that doesn't listen must not begin to when its slot moves. Queues are reused and keep their former fields.
func TestQueueThatDoesNotListenStaysSoWhenItsSlotMoves(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	sec := l.s.Enter(section.MustNotBlock)
	n := l.s.pin(&l)
	q := n.ensureQueue(&l, owner.Owner{})
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
	n.unpin()
	sec.Leave()
}

// The last answer to a semaphore's waiters says nothing of the next name that uses their queue.
func TestReusedQueueForgetsThatNoPermitsWereSet(t *testing.T) {
	t.Parallel()
	c, err := New(config())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	w := l.NewWaiter()
	defer l.s.Enter(section.MustNotBlock).Leave()
	w.n = l.s.pin(&l)
	q := w.n.ensureQueue(&l, owner.Owner{})
	q.unset = true
	q.Tick(q.n.now())
	w.n.step() // nobody waits
	if w.queue() != nil || w.n.ensureQueue(&l, owner.Owner{}) != q {
		t.Fatal("it is not reused")
	}
	if err := w.unsetToo(l.Taken()); err != l.Taken() {
		t.Error(err)
	}
	w.n.unpin()
}
