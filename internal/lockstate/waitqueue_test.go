package lockstate

import (
	"testing"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/section"
)

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
	q := w.n.Ensure(&l.Lock, owner.Owner{})
	q.Unset = true
	q.Tick(l.s.Now())
	w.n.Step() // nobody waits
	if w.queue() != nil || w.n.Ensure(&l.Lock, owner.Owner{}) != q {
		t.Fatal("it is not reused")
	}
	if err := w.unsetToo(l.Taken()); err != l.Taken() {
		t.Error(err)
	}
	w.n.unpin()
}
