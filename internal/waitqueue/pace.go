package waitqueue

import "time"

// While no replica acknowledges, a grant keeps others out until it is given back.
// Whoever else of this client is granted the lock in its place keeps them out as long
// again. So they leave room for others, but for a call that makes one attempt, and for
// one whose wait ends before.

// GivesBack says that a grant of this client, which kept others out for a time, is
// about to be given back, and that the next would fare alike.
func (q *Queue) GivesBack(now, kept time.Duration) {
	q.heldOff = now + kept/2 + q.random(kept/2+1)
	q.changed = true
}

// leavesRoom is until when w leaves room for others; 0: it does not.
func (q *Queue) leavesRoom(w *Waiter) time.Duration {
	if w.OneTry && w.trouble.err == nil || w.Until > 0 && w.Until <= q.heldOff {
		return 0
	}
	return q.heldOff
}

// tryLater has an attempt made for w, which is outside the queue, when it need not
// leave room.
func (q *Queue) tryLater(w *Waiter) {
	if at := q.leavesRoom(w); at > 0 {
		q.dues.set(w, q.dueBy(w, at))
	} else {
		q.try(w)
	}
}

// roomLeft ends the time for which room is left.
func (q *Queue) roomLeft(now time.Duration) {
	if now >= q.heldOff {
		q.heldOff = 0
	}
}
