package locks

import "github.com/rlock-go/redisson/internal/waitqueue"

// nobodyWaits tells whether nobody waits for the name and no attempt is under way.
func (n *nameState) nobodyWaits() bool { return n.queues == nil && n.lone == nil }

// passPlaceOn reports whether a caller with As still waits as the owner. That one needs the
// owner's place in the server's queue, and leaves it in its turn, even if the server never answers
// it. A caller that makes one attempt needs no place.
func (n *nameState) passPlaceOn(l *Lock, o Owner) bool {
	q := n.findQueue(l, o)
	if q == nil {
		return false
	}
	for w := range q.All() {
		if w.Call.(*Waiter).takePlace() {
			return true
		}
	}
	return false
}

// waiters iterates over the waiters of all queues.
func (n *nameState) waiters(yield func(*waitqueue.Waiter) bool) {
	for q := n.queues; q != nil; q = q.next {
		for w := range q.Waiting() {
			if !yield(w) {
				return
			}
		}
	}
}
