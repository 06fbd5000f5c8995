package waitqueue

import (
	"iter"
	"time"

	"github.com/rlock-go/redisson/internal/wakepolicy"
)

const (
	// longestWait bounds the time between attempts, for a key without a TTL or
	// with an absurd one.
	longestWait = time.Minute

	// A PTTL of 0 must not make a waiter spin.
	shortestWait = time.Millisecond

	// unsubscribeDelay is how long an empty queue stays subscribed if it handed
	// the lock on within this client. A caller that has just released tends to
	// come back.
	unsubscribeDelay = 50 * time.Millisecond
)

// never is an instant that no clock reaches.
const never = time.Duration(1<<63 - 1)

// Queue is who waits for one name in one client (A3). Make it with New. It is
// not safe for concurrent use. Instants are readings of one clock that never
// goes back.
type Queue struct {
	timeout time.Duration
	random  wakepolicy.Random
	policy  wakepolicy.Policy

	waiting  list
	unqueued list    // their attempts are made outside the queue
	leading  *Waiter // the queue's attempt is under way in its name; it may have left
	handedOn bool    // that attempt follows an unlock

	rules          Rules
	wakes          int           // how many attempts are wanted
	notBefore      time.Duration // and put off until then; 0: it is not
	expiryDeadline time.Duration // the head's attempt is made by then at the latest
	current        wakeUp
	handOff

	subscribed    bool
	confirmed     bool
	unsubscribeAt time.Duration // when a queue that nobody waits in leaves its channel; 0: not decided

	answers  int // "taken", or a grant to one of the queue
	trouble  trouble
	retryAt  time.Duration // the first at which something of the unqueued is due; 0: nothing is
	timerAt  time.Duration // what the timer is set to; 0: it is not
	closed   bool
	changed  bool // something has happened that was not decided on yet
	pendings pendings
	todo     todo
	drop     bool // nothing is left
}

// New makes a queue that nobody waits in. timeout is for how long a waiter bears
// trouble before its first answer. random is asked when attempts are spread. The
// rules are those of Exclusive.
func New(timeout time.Duration, random wakepolicy.Random) Queue {
	return Queue{timeout: timeout, random: random, rules: Exclusive}
}

// Use has the queue go by the name's fair share, or by none.
func (q *Queue) Use(share *wakepolicy.FairShare) { q.policy.Share = share }

// Len is how many wait in the queue.
func (q *Queue) Len() int { return q.waiting.size }

// SharedOwners is how many of them have shared owners.
func (q *Queue) SharedOwners() int { return q.waiting.shared }

// Waiting are those who wait in the queue, in order. The loop may report events
// of the one it has.
func (q *Queue) Waiting() iter.Seq[*Waiter] {
	return func(yield func(*Waiter) bool) { q.waiting.each(yield) }
}

// All are those and the ones outside the queue.
func (q *Queue) All() iter.Seq[*Waiter] {
	return func(yield func(*Waiter) bool) {
		more := true
		all := func(w *Waiter) bool {
			more = yield(w)
			return more
		}
		if q.waiting.each(all); more {
			q.unqueued.each(all)
		}
	}
}

// Listening tells whether the subscription is confirmed.
func (q *Queue) Listening() bool { return q.confirmed }

// decide asks for the attempt that is due for the head, or sets the timer for
// the next one.
func (q *Queue) decide(now time.Duration) {
	if q.policy.BackAt() > 0 && q.waiting.size > 0 {
		q.subscribe(now) // if it is time
	}
	switch w := q.candidate(); {
	case q.leading != nil:
	case w == nil:
		q.emptied(now)
		return
	case q.wakes == 0 && now < q.attemptBy():
		q.unsubscribeAt = 0
	default:
		q.unsubscribeAt = 0
		if q.notBefore = q.policy.NotBefore(now, q.head()); q.notBefore > 0 {
			q.wake(All)
			q.subscribe(now)
			break
		}
		q.handOffs = 0
		q.lead(w, false)
	}
	q.setTimer(now)
}

// head is the candidate as the policy sees it.
func (q *Queue) head() wakepolicy.Head {
	w := q.candidate()
	return wakepolicy.Head{Shared: w.Shared, Refused: q.wasTold(w), Until: w.Until}
}

// attemptBy is the deadline of the head's next attempt, with or without a
// wake-up.
func (q *Queue) attemptBy() time.Duration {
	if q.handOffDeadline > 0 {
		return min(q.expiryDeadline, q.handOffDeadline)
	}
	return q.expiryDeadline
}

// lead makes the queue's attempt for w, the candidate.
func (q *Queue) lead(w *Waiter, handedOn bool) {
	q.use(w)
	q.notBefore, q.handOffDeadline = 0, 0
	q.policy.Tried()
	q.leading, q.handedOn = w, handedOn
	q.try(w)
}

// emptied is called while nobody waits in the queue.
func (q *Queue) emptied(now time.Duration) {
	if q.subscribed && q.handedOff && !q.closed {
		if q.unsubscribeAt == 0 {
			q.unsubscribeAt = now + unsubscribeDelay
			q.trouble = trouble{}
		}
		if now < q.unsubscribeAt {
			q.setTimer(now)
			return
		}
	}
	q.reset()
	q.setTimer(now)
	q.drop = q.unqueued.size == 0
}

// reset clears a queue that nobody waits in (P1, E2).
func (q *Queue) reset() {
	q.unsubscribe()
	q.wakes, q.current = 0, wakeUp{}
	q.policy.Reset()
	q.expiryDeadline, q.notBefore, q.unsubscribeAt = 0, 0, 0
	q.handOff = handOff{}
	q.trouble = trouble{}
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

// Tick says that the time the timer was set to has come. It may come early.
func (q *Queue) Tick(now time.Duration) {
	q.timerAt = 0
	q.todo.setTimer = false
	q.failUnanswered(now)
	q.retryUnqueued(now)
	q.changed = true
}
