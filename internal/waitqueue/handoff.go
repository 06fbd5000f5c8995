package waitqueue

import (
	"time"

	"github.com/rlock-go/redisson/internal/wakepolicy"
)

const (
	// MaxHandOffs bounds how many waiters of this client get the lock one after
	// the other without a moment in which others may. Only another client's
	// attempt between two commands could come in between, and there is no
	// between.
	MaxHandOffs = 32

	// Own messages are waited for no longer than this; what comes later may be
	// anybody's release.
	ownMessageWait = 100 * time.Millisecond
)

// handOff is what a queue knows of passing the lock on within this client: the
// head's acquire follows the unlock in the same write, which costs one round
// trip in the place of three. All processes hear of the unlock as ever, and
// find the lock taken.
type handOff struct {
	handOffs         int           // how many in a row
	handedOff        bool          // one has happened since the queue subscribed
	ownMessages      int           // messages that are still to come and say nothing new
	ownMessagesUntil time.Duration // when they are not waited for any more
	handOffDeadline  time.Duration // this client released, and the head tries by then if no message comes; 0: nothing is due
}

// HandOff says that this client's unlock has just been queued, and lets the
// head's acquire follow it: that attempt is the next action. Otherwise the head
// waits for the message like everybody else. It reports whether the message is
// of no use to this client: the lock was handed on, or nobody waits, and who
// comes looks anyway. Should the unlock then not run as expected, the caller
// reports ResetOwnMessages.
func (q *Queue) HandOff(now time.Duration) bool {
	w := q.waiting.head
	if w == nil && q.unqueued.size > 0 {
		// A try outside the queue may be on its way to a refusal that this
		// unlock comes too late for.
		return false
	}
	if q.leading != nil || w != nil && !q.mayHandOff(now) {
		q.handOffs = 0
		q.handOffDeadline = now + ownMessageWait
		if q.leading == nil {
			q.poll(now, wakepolicy.AfterRelease)
		}
		q.setTimer(now)
		return false
	}
	if q.confirmed {
		q.ownMessages++
		q.ownMessagesUntil = now + ownMessageWait
	}
	if w != nil {
		q.handOffs++
		q.handedOff, q.changed = true, true
		q.lead(w, true)
	}
	return true
}

// mayHandOff tells whether the head may have the lock without a moment in which
// others could.
func (q *Queue) mayHandOff(now time.Duration) bool {
	return q.trouble.err == nil && q.handOffs < MaxHandOffs && q.policy.YieldUntil(now, q.head()) == 0
}

// ResetOwnMessages follows a hand-off of which one half went wrong: the unlock
// did not run at once, or not at all, or the acquire was not granted. Messages
// count again, and one that was taken for an own message is made up for.
func (q *Queue) ResetOwnMessages() {
	if q.ownMessages == 0 {
		q.wakePending = true
	}
	q.ownMessages = 0
	q.changed = true
}

// isOwnMessage tells whether a message is one of this client's own that is no
// reason to look.
func (q *Queue) isOwnMessage(now time.Duration) bool {
	if q.ownMessages == 0 {
		return false
	}
	q.ownMessages--
	return now < q.ownMessagesUntil
}

// WakeHead has the head look: who waits for this client's own release has
// nothing to wait for.
func (q *Queue) WakeHead() {
	if q.waiting.size > 0 {
		q.wakePending, q.changed = true, true
	}
}

// GivenBack says that this client released what nobody had. Whoever waits
// without a subscription would not hear of it.
func (q *Queue) GivenBack() {
	if !q.confirmed {
		q.wakePending, q.changed = true, true
	}
}

// poll sees to the next try of a queue that left its channel, since no message
// would tell when: at an instant that the policy chooses, or when the channel
// is confirmed, if it is time to come back.
func (q *Queue) poll(now time.Duration, over wakepolicy.Spread) {
	switch {
	case q.policy.Away(now):
		q.wakePending = true
		q.notBefore = q.policy.Poll(now, over, q.random)
	case q.policy.BackAt() > 0:
		q.subscribe(now)
	}
}
