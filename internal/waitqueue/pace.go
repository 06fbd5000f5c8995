package waitqueue

import "time"

// While no replica acknowledges, a grant keeps other clients out until it is given back.
// Another waiter of this client that gets the lock next keeps them out as long again. So
// the waiters leave room for other clients, except a waiter that makes one attempt, and
// one whose wait ends earlier.

// GivesBack says that a grant of this client, which kept others out for a time, is about
// to be given back, and that the next grant would be, too.
func (q *Queue) GivesBack(now, kept time.Duration) {
	q.heldOff = now + kept/2 + q.random(kept/2+1)
	q.changed = true
}

// leavesRoom is the instant until which w leaves room for other clients, or 0.
func (q *Queue) leavesRoom(w *Waiter) time.Duration {
	if w.OneTry && w.trouble.err == nil || w.Until > 0 && w.Until <= q.heldOff {
		return 0
	}
	return q.heldOff
}

// tryLater makes an attempt for w, which is unqueued, as soon as w need not leave room.
func (q *Queue) tryLater(w *Waiter) {
	if at := q.leavesRoom(w); at > 0 {
		q.dues.set(w, q.dueBy(w, at))
	} else {
		q.try(w)
	}
}

// roomLeft ends the time for which room is left, if it has passed.
func (q *Queue) roomLeft(now time.Duration) {
	if now >= q.heldOff {
		q.heldOff = 0
	}
}
