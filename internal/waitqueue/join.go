package waitqueue

import (
	"time"

	"github.com/rlock-go/redisson/internal/kind"
)

// Join puts w at the end of the queue. held: this client has a living hold of
// the name. That matters for the first waiter only: a new queue makes an attempt
// at once, unless this client holds the lock. Then the release makes it.
func (q *Queue) Join(now time.Duration, w *Waiter, held bool) {
	w.joined = now
	first := q.waiting.size == 0 && q.leading == nil
	q.enqueue(w)
	if !first {
		return
	}
	q.policy.Arrived(now)
	if q.confirmed && q.wakes == 0 && now < q.attemptBy() && held {
		w.answers-- // as good as told
	} else {
		q.wake(kind.All)
	}
}

// Adopt takes over w, which came at since while nobody else was there, and whose
// attempt is under way: the queue is as if w had joined it then.
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

// JoinUnqueued has an attempt made for w at once, outside the queue: it wants
// only one, or its owner may hold the name already.
func (q *Queue) JoinUnqueued(now time.Duration, w *Waiter) {
	w.joined = now
	q.unqueued.push(w)
	q.roomLeft(now)
	q.tryLater(w)
	q.changed = true
}

// Roomy tells whether any number may have the name and nobody waits who was refused:
// whoever comes joins unqueued, and need not wait for what others are answered (A3).
func (q *Queue) Roomy() bool { return q.wide() && q.waiting.size == 0 }

// LetThrough has attempts made at once for those who wait in the queue for a shared
// owner, since it has just come to hold the name by another call: they would wait
// for themselves (A3).
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

// Leave ends a wait whose caller has no more patience. An attempt in its name
// goes on, and its end is reported as ever.
func (q *Queue) Leave(w *Waiter) { q.settle(w, left, nil) }

// Fail ends a wait with an error. An attempt in its name goes on.
func (q *Queue) Fail(w *Waiter, err error) { q.settle(w, Failed, err) }

// Close says that the client is closed: nobody comes back, so the queue leaves
// its channel at once when the last one goes. The caller ends the waits.
func (q *Queue) Close() { q.closed, q.changed = true, true }

// Facts is what the queue knows of a wait, for wording how it ended.
type Facts struct {
	Told     bool  // it had an answer, to an attempt of its own or of the queue while it stood in it
	Known    bool  // the last that the queue heard was that the lock is taken
	InFlight bool  // it stands in the queue, whose attempt has no answer yet
	Trouble  error // the last trouble that it waits through, or nil
}

// Facts tells what is known of w's wait. Of one that has just ended it tells
// what was known then.
func (q *Queue) Facts(w *Waiter) Facts {
	f := Facts{Told: q.wasTold(w), Trouble: w.trouble.err}
	if w.queued {
		f.InFlight = q.leading != nil
		f.Known = q.taken
		if q.trouble.err != nil {
			f.Trouble = q.trouble.err
		}
	}
	return f
}
