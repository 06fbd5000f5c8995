package waitqueue

import "time"

// never is an instant that no clock reaches.
const never = time.Duration(1<<63 - 1)

// atOnce is how many waiters one event of the timer handles. The next event follows at
// once, so that events of other waiters are handled in between.
const atOnce = 100

// Tick says that the time has come to which the timer was set. An early Tick does no
// harm.
func (q *Queue) Tick(now time.Duration) {
	q.timerAt, q.asked.timerAt = 0, 0
	q.roomLeft(now)
	q.failUnanswered(now)
	q.retryUnqueued(now)
	q.changed = true
}

// setTimer sets the timer to the next instant at which something is due that no event
// announces.
func (q *Queue) setTimer(now time.Duration) {
	at := never
	switch {
	case q.waiting.size == 0:
		if q.unsubscribeAt > 0 {
			at = q.unsubscribeAt
		}
	case q.leading == nil && q.wakes > 0:
		at = q.notBefore
	case q.leading == nil:
		at = q.attemptBy()
	}
	if q.leading == nil && q.waiting.size > 0 {
		at = max(at, q.leavesRoom(q.candidate()))
	}
	if q.waiting.size > 0 {
		if back := q.policy.resubscribeAt; back > 0 {
			at = min(at, back)
		}
		switch {
		case q.trouble.err == nil || q.trouble.heard:
		case q.unfailed != nil:
			at = now
		default:
			at = min(at, now+q.timeout/4)
		}
	}
	at = min(at, q.dues.first())
	switch {
	case at == never && q.waiting.size == 0 && q.leading == nil && q.timerAt > 0:
		q.timerAt = 0
	case at != never && (q.timerAt == 0 || at < q.timerAt):
		q.timerAt = max(at, 1)
	}
}

// attemptBy is the deadline of the head's next attempt, with or without a wake-up.
func (q *Queue) attemptBy() time.Duration {
	if q.handOffDeadline > 0 {
		return min(q.expiryDeadline, q.handOffDeadline)
	}
	return q.expiryDeadline
}

// failUnanswered fails the waiters in the queue whose patience with a silent server has
// ended.
func (q *Queue) failUnanswered(now time.Duration) {
	w := q.unfailed
	if w == nil {
		w = q.waiting.head
	}
	if q.unfailed = nil; q.trouble.err == nil {
		return
	}
	for range atOnce {
		if w == nil {
			return
		}
		next := w.next
		if !q.wasRefused(w) && q.trouble.ends(now, w.joined, q.timeout) {
			q.settle(w, Unreachable, q.trouble.err)
		}
		w = next
	}
	q.unfailed = w
}

// retryUnqueued handles what is due for unqueued waiters.
func (q *Queue) retryUnqueued(now time.Duration) {
	for range atOnce {
		if q.dues.first() > now {
			return
		}
		if w := q.dues[0]; !w.Refused && w.trouble.ends(now, 0, q.timeout) {
			q.settle(w, Unreachable, w.trouble.err)
		} else {
			q.tryLater(w)
		}
	}
}
