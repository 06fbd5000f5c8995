package waitqueue

import "time"

// never is an instant that no clock reaches.
const never = time.Duration(1<<63 - 1)

// Tick says that the time the timer was set to has come. It may come early.
func (q *Queue) Tick(now time.Duration) {
	q.timerAt = 0
	q.todo.setTimer = false
	q.failUnanswered(now)
	q.retryUnqueued(now)
	q.changed = true
}

// setTimer sets the timer to the next instant at which something is due that no
// event announces. A tick that comes early does no harm and sets it anew.
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
	if q.waiting.size > 0 {
		if back := q.policy.BackAt(); back > 0 {
			at = min(at, back)
		}
		if q.trouble.err != nil {
			at = min(at, now+q.timeout/4)
		}
	}
	if q.unqueued.size == 0 {
		q.retryAt = 0
	} else if q.retryAt > 0 {
		at = min(at, q.retryAt)
	}
	switch {
	case at == never && q.waiting.size == 0 && q.leading == nil && q.timerAt > 0:
		q.timerAt = 0
		q.todo.setTimer, q.todo.stopTimer = false, true
	case at != never && (q.timerAt == 0 || at < q.timerAt):
		q.timerAt = max(at, 1)
		q.todo.setTimer, q.todo.stopTimer = true, false
	}
}

// attemptBy is the deadline of the head's next attempt, with or without a
// wake-up.
func (q *Queue) attemptBy() time.Duration {
	if q.handOffDeadline > 0 {
		return min(q.expiryDeadline, q.handOffDeadline)
	}
	return q.expiryDeadline
}

// failUnanswered fails those in the queue whose patience with a silent server
// has ended.
func (q *Queue) failUnanswered(now time.Duration) {
	if q.trouble.err == nil {
		return
	}
	q.waiting.each(func(w *Waiter) bool {
		if !q.wasTold(w) && now-max(w.joined, q.trouble.since) >= q.timeout {
			q.settle(w, Unreachable, q.trouble.err)
		}
		return true
	})
}

// retryUnqueued does what is due outside the queue.
func (q *Queue) retryUnqueued(now time.Duration) {
	if q.retryAt == 0 || now < q.retryAt {
		return
	}
	q.retryAt = 0
	q.unqueued.each(func(w *Waiter) bool {
		switch limit := w.trouble.since + q.timeout; {
		case w.open && now >= limit:
			q.settle(w, Unreachable, w.trouble.err)
		case w.open:
			q.dueAt(limit)
		case w.retryAt == 0: // no pause
		case !w.Told && now >= limit:
			q.settle(w, Unreachable, w.trouble.err)
		case w.retryAt > now:
			q.dueAt(q.lookAt(w))
		default:
			q.retry(w)
		}
		return true
	})
}

// dueAt has the timer set for one outside the queue.
func (q *Queue) dueAt(at time.Duration) {
	if q.retryAt == 0 || at < q.retryAt {
		q.retryAt = at
	}
}

// lookAt is when something is due for w, which pauses: its next attempt, or the
// end of its patience with a server that never answered.
func (q *Queue) lookAt(w *Waiter) time.Duration {
	if w.Told {
		return w.retryAt
	}
	return min(w.retryAt, w.trouble.since+q.timeout)
}
