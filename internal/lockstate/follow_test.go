package lockstate

import (
	"testing"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/topology"
)

// A queue that listened once, or was another name's, has nothing to move. What it subscribed to would stay.
func TestQueueThatDoesNotListenDoesNotFollowItsSlot(t *testing.T) {
	c, err := New(config())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	sec := l.shard().enter(mustNotBlock)
	n := l.shard().pin(&l)
	q := n.ensureQueue(&l, Owner{})
	q.subscribe()
	listened := len(q.subs)
	sec.leave()
	moved := topology.Change{Slots: topology.Slots{{First: l.slot, Last: l.slot}}, To: c.top.Nodes()[0]}
	c.changed(moved)
	sec = l.shard().enter(mustNotBlock)
	follows := len(q.subs)
	q.unsubscribe()
	sec.leave()
	c.changed(moved)
	sec = l.shard().enter(mustNotBlock)
	left := len(q.subs)
	n.step()
	n.unpin()
	sec.leave()
	if listened != 1 || follows != 1 || left != 0 {
		t.Errorf("%d subscriptions, %d after a change; after it had unsubscribed, %d", listened, follows, left)
	}
}
