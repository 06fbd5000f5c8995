package waitqueue

import (
	"time"

	"github.com/rlock-go/redisson/internal/kind"
)

// Join puts w at the end of the queue. held says that this client has a live hold of the
// name. That matters only for the first waiter: a new queue makes an attempt at once,
// unless this client holds the lock and would hear of its release.
func (q *Queue) Join(now time.Duration, w *Waiter, held bool) {
	w.joined = now
	first := q.waiting.size == 0 && q.leading == nil
	q.enqueue(w)
	if !first {
		return
	}
	q.policy.Share.Arrived(now)
	if q.confirmed && q.wakes == 0 && now < q.attemptBy() && held {
		w.answers-- // counts as an answer "taken"
	} else {
		q.wake(kind.All)
	}
}

// Adopt takes over w, which came at since when the queue was empty, and whose attempt is
// in flight. The queue is then as if w had joined it at since.
func (q *Queue) Adopt(since time.Duration, w *Waiter) {
	w.trying = true
	if w.OneTry || q.Roomy() {
		w.joined = since
		q.unqueued.push(w)
	} else {
		q.Join(since, w, false)
		q.use(w)
		q.leading = w
	}
	q.changed = true
}

// JoinUnqueued makes an attempt for w at once, outside the queue: w wants only one, or
// its owner may hold the name already.
func (q *Queue) JoinUnqueued(now time.Duration, w *Waiter) {
	w.joined = now
	q.unqueued.push(w)
	q.roomLeft(now)
	q.tryLater(w)
	q.changed = true
}

// Roomy reports whether any number of owners may have the name and no refused waiter
// waits. A new waiter then joins unqueued, and need not wait for the answers of others
// (A3).
func (q *Queue) Roomy() bool { return q.rules.Width == 0 && !q.rules.Gate && q.waiting.size == 0 }

// LetThrough makes attempts at once for the waiters in the queue that have the given
// shared owner, since this owner now holds the name by another call: they would wait for
// themselves (A3).
func (q *Queue) LetThrough(owner any) {
	for w := q.shared[owner]; w != nil; {
		next := w.nextShared
		if !w.trying {
			q.takeOut(w)
			q.try(w)
		}
		w = next
	}
}

// Leave ends the wait of a waiter whose caller gave up. An attempt in its name goes on,
// and the caller reports its outcome as for others.
func (q *Queue) Leave(w *Waiter) { q.settle(w, left, nil) }

// Fail ends a wait with an error. An attempt in its name goes on.
func (q *Queue) Fail(w *Waiter, err error) { q.settle(w, Failed, err) }

// Close says that the client is closed. No caller comes back, so the queue unsubscribes
// at once when its last waiter leaves. The caller ends the waits.
func (q *Queue) Close() { q.closed, q.changed = true, true }

// Facts is what the queue knows of a wait, for the text of an error.
type Facts struct {
	Refused  bool  // its attempt, or the queue's while it was in the queue, had an answer
	Known    bool  // the latest news was that the lock is taken
	InFlight bool  // it is in the queue, whose attempt has no answer yet
	Trouble  error // the latest trouble during its wait, or nil
}

// Facts reports what is known of w's wait. If the wait has just ended, it reports what
// was known then.
func (q *Queue) Facts(w *Waiter) Facts {
	f := Facts{Refused: q.wasRefused(w), Trouble: w.trouble.err}
	if w.queued {
		f.InFlight = q.leading != nil
		f.Known = q.taken
		if q.trouble.err != nil {
			f.Trouble = q.trouble.err
		}
	}
	return f
}
