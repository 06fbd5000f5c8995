package lockstate

import (
	"testing"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topology"
)

// A reused queue that doesn't listen has no subscription to move. A subscription made for it would stay.
func TestQueueThatDoesNotListenDoesNotFollowItsSlot(t *testing.T) {
	t.Parallel()
	c, err := New(config())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	sec := l.s.enter(mustNotBlock)
	n := l.s.pin(&l)
	q := n.ensureQueue(&l, owner.Owner{})
	q.subscribe()
	listened := len(q.subs)
	sec.leave()
	moved := topology.Change{Slots: topology.Slots{{First: l.Slot, Last: l.Slot}}, To: c.Top.Nodes()[0]}
	c.changed(moved)
	sec = l.s.enter(mustNotBlock)
	follows := len(q.subs)
	q.unsubscribe()
	sec.leave()
	c.changed(moved)
	sec = l.s.enter(mustNotBlock)
	left := len(q.subs)
	n.step()
	n.unpin()
	sec.leave()
	if listened != 1 || follows != 1 || left != 0 {
		t.Errorf("%d subscriptions, %d after a change; after it had unsubscribed, %d", listened, follows, left)
	}
}

// A caller that joins before the new subscription is confirmed must not rely on messages: its message may have been
// published before.
func TestQueueDoesNotListenBeforeItsNewSubscriptionIsConfirmed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := acquire(t, &l)
	ended := make(chan outcome, 1)
	wait(t.Context(), t, &l, 0, ended, Terms{})
	listens := func() bool {
		defer l.s.enter(mustNotBlock).leave()
		return l.s.find(&l).findQueue(&l, owner.Owner{}).Listening()
	}
	redistest.Becomes(t, "the waiter listens", listens)
	func() { // in one section, so that no confirmation comes between
		defer l.s.enter(mayBlock).leave()
		q := l.s.find(&l).findQueue(&l, owner.Owner{})
		if q.resubscribe(); q.Listening() {
			t.Error("it listens, though its subscription was made anew and is not confirmed")
		}
	}()
	unlock(t, h)
	unlock(t, next(t, ended).hold)
}
