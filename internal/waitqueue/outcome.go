package waitqueue

import "time"

const (
	// longestWait bounds the time between attempts, for a key without a TTL or with an
	// absurd one.
	longestWait = time.Minute

	// A PTTL of 0 must not make a waiter spin.
	shortestWait = time.Millisecond
)

// The caller reports an attempt's outcome by exactly one of Granted, Refused, Unsent,
// Rejected, Troubled, Unsettled and, after any number of Open, Resolved. Each ends the
// attempt; its waiter may have left before.

// Granted says that w's attempt got the lock, for a lease. To the other waiters in the
// queue this is the answer "taken", unless more than one owner may have the lock: then
// they try next. If w has left, the caller gives back what w got.
func (q *Queue) Granted(now time.Duration, w *Waiter, lease time.Duration) {
	led, _ := q.end(w)
	q.settle(w, Granted, nil)
	if q.rules.Gate {
		q.openGate(led)
		return
	}
	if led {
		q.tellTaken(now, lease)
		q.afterGrant()
	}
}

// Refused says that another owner has the lock, for ttl more, or forever if ttl is
// negative.
func (q *Queue) Refused(now time.Duration, w *Waiter, ttl time.Duration) {
	led, handedOn := q.end(w)
	w.Refused = true
	w.trouble = trouble{}
	switch {
	case led:
		q.policy.Share.Refused(now)
		q.tellTaken(now, ttl)
		q.afterRefusal(w)
		q.poll(now, AfterRefusal)
		if handedOn {
			// The unlock did not run before it, or released nothing.
			q.ResetOwnMessages()
		}
	case w.Settled:
	case w.OneTry:
		q.settle(w, Refused, nil)
	default:
		// An unqueued waiter queues after a refusal (A3).
		q.unqueued.remove(w)
		first := q.waiting.size == 0 && q.leading == nil
		if q.enqueue(w); first {
			q.tellTaken(now, ttl)
		}
	}
}

// tellTaken follows an answer to the queue's attempt that the name is taken for ttl, by
// another owner or by a grant to a waiter of the queue. The answer counts for all waiters
// of the queue.
func (q *Queue) tellTaken(now, ttl time.Duration) {
	q.answers++
	q.taken = true
	q.trouble = trouble{}
	if ttl < 0 || ttl > longestWait {
		ttl = longestWait
	}
	q.expiryDeadline = now + max(ttl, shortestWait)
	if q.waiting.size > 0 {
		q.subscribe(now)
	}
}

// openGate ends the waits of the queue: the gate is open. For a waiter that came after
// the question was sent it is asked again, because the gate may have closed in between.
// If an unqueued waiter asked the question, it is not known which waiters came later, so
// it is asked again for all.
func (q *Queue) openGate(led bool) {
	if led {
		q.taken, q.trouble = false, trouble{}
		for w := range q.waiting.each {
			if !w.late {
				q.settle(w, Granted, nil)
			}
		}
	}
	if q.waiting.size > 0 {
		q.wake(1)
	}
}

// Unsent says that w's attempt had no effect and that another may succeed: it was taken
// back before it was written, or its grant is gone again. Its wake-up is passed on.
func (q *Queue) Unsent(w *Waiter) {
	q.unsent(w)
	q.retry(w)
}

// Rejected says that the server, or the client, answered w's attempt with an error that
// ends its wait.
func (q *Queue) Rejected(w *Waiter, err error) {
	if q.leading == w && q.handedOn {
		q.ResetOwnMessages()
	}
	q.settle(w, Failed, err)
	q.unsent(w)
}

// Troubled says that w's attempt, made at since, failed with an error that may pass, and
// that it left nothing behind. It is repeated after a pause. A waiter that never had an
// answer fails when the trouble has lasted for the timeout (A7).
func (q *Queue) Troubled(now time.Duration, w *Waiter, err error, since time.Duration) {
	q.troubled(now, w, err, since, false)
}

func (q *Queue) troubled(now time.Duration, w *Waiter, err error, since time.Duration, heard bool) {
	led, handedOn := q.end(w)
	if q.bears(now, w, err, since, led, handedOn, heard) {
		q.dues.set(w, q.dueBy(w, now+w.trouble.pause))
	}
}

// Unsettled is Troubled for an error reply that will pass, as while the name's slot
// moves. Only an unqueued waiter with OneTry fails because of it, after the timeout.
func (q *Queue) Unsettled(now time.Duration, w *Waiter, err error, since time.Duration) {
	q.troubled(now, w, err, since, true)
}

// Open says that w's attempt, made at since, failed, and that its outcome is being found
// out or undone. No other attempt is made for w, or for the queue if this was the queue's
// attempt, until Resolved. heard says that the server replied with an error that will
// pass, as for Unsettled.
func (q *Queue) Open(now time.Duration, w *Waiter, err error, since time.Duration, heard bool) {
	q.changed = true
	if q.bears(now, w, err, since, q.leading == w, q.handedOn, heard) && !w.Refused && !w.trouble.heard {
		q.dues.set(w, w.trouble.since+q.timeout)
	}
}

// bears records trouble of the queue, if its attempt failed, or of w. It reports whether
// w waits on outside the queue. For heard see trouble.
func (q *Queue) bears(now time.Duration, w *Waiter, err error, since time.Duration, led, handedOn, heard bool) bool {
	switch {
	case led:
		if handedOn {
			q.ResetOwnMessages()
		}
		q.taken = false
		q.trouble.add(err, since, heard)
		q.expiryDeadline = now + q.trouble.pause
		q.wakes, q.current = 0, wakeUp{}
		q.failUnanswered(now)
		return false
	case w.Settled:
		return false
	}
	w.trouble.add(err, since, heard && !w.OneTry)
	if w.Refused || !w.trouble.ends(now, 0, q.timeout) {
		return true
	}
	q.settle(w, Unreachable, err)
	return false
}

// Resolved says that nothing is left of an attempt that was Open, so that another may be
// made.
func (q *Queue) Resolved(w *Waiter) {
	q.end(w)
	q.retry(w)
}
