package lockstate

import (
	"github.com/rlock-go/redisson/internal/waitqueue"
	"github.com/rlock-go/redisson/internal/wakepolicy"
)

// Most calls find nobody of their client at the name, and are granted at once.
// Such a lone waiter makes its attempt without a queue. Whatever else happens,
// be it another call, a refusal, trouble or the caller's impatience, first
// gives it the queue that it would have had (adopt), in the state in which that
// would be.

// alone tells whether w needs no queue for now: this client has nothing of the
// name, and leaves no room for others just now. It is called with the shard
// locked.
func (n *name) alone(w *Waiter) bool {
	if n.queues != nil || n.states != nil || n.lone != nil || w.Terms.As || w.l.traits.ByOwner {
		return false
	}
	return n.fairShare == nil || !w.l.traits.FairShare || wakepolicy.Free(n.fairShare, n.now(), w.Until)
}

// first is the first of the name's queues, nil if nobody waits. It is called
// with the shard locked.
func (n *name) first() *waitQueue {
	if n.lone != nil {
		n.adopt()
	}
	return n.queues
}

// adopt gives the lone waiter, whose attempt is under way, its queue. It is
// called with the shard locked.
func (n *name) adopt() {
	w := n.lone
	n.lone = nil
	n.ensureQueue(w.l, w.queueOwner).Adopt(w.began, &w.Waiter)
}

// grantAlone ends the wait of a lone waiter that was granted the lock. It
// reports false if the waiter is not alone. It is called with the shard locked.
func (n *name) grantAlone(w *Waiter) bool {
	if n.lone != w {
		return false
	}
	n.lone = nil
	w.Settled = true
	w.endWait(waitqueue.Granted, nil)
	return true
}
