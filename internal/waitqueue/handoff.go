package waitqueue

import (
	"time"

	"github.com/rlock-go/redisson/internal/kind"
)

// ownMessageWait is how long an own message is expected. A later message may be any
// client's release.
const ownMessageWait = 100 * time.Millisecond

// HandOff says that this client's unlock has just been queued, and lets the head's
// acquire follow it: that attempt is the next action. If that is not allowed, the head
// waits for the message as other clients do. It reports whether this client can ignore
// the message: the lock was handed on, or nobody waits, and a new waiter tries anyway. If
// the unlock then does not run as expected, the caller reports ResetOwnMessages.
func (q *Queue) HandOff(now time.Duration) bool {
	q.taken = false
	if q.rules.HandOffs == 0 {
		return false
	}
	w := q.waiting.head
	if w == nil && q.unqueued.size > 0 || q.leading != nil && q.rules.Silent {
		// That attempt may be refused before this unlock runs.
		return false
	}
	if q.leading != nil || w != nil && !q.mayHandOff(now) {
		q.handOffs = 0
		q.handOffDeadline = now + ownMessageWait
		if q.leading == nil {
			q.poll(now, AfterRelease)
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

// mayHandOff reports whether the head may have the lock without a moment in which other
// clients could acquire it.
func (q *Queue) mayHandOff(now time.Duration) bool {
	return q.trouble.err == nil && q.leavesRoom(q.waiting.head) == 0 && q.handOffs < q.rules.HandOffs && q.policy.YieldUntil(now, q.head()) == 0
}

// ResetOwnMessages says that a hand-off failed in part: the unlock did not run at once,
// or not at all, or the acquire was not granted. From then on every message counts. If
// one was already taken for an own message, a wake-up makes up for it.
func (q *Queue) ResetOwnMessages() {
	if q.ownMessages == 0 {
		q.wake(kind.All)
	}
	q.ownMessages = 0
	q.changed = true
}

// HearOwnMessages says that an attempt, just queued, may be refused before an unlock that
// was queued earlier. From then on every message counts. An earlier message needs no
// wake-up: the attempt sees the effect of that unlock.
func (q *Queue) HearOwnMessages() { q.ownMessages = 0 }

// Released says that an unlock of this client was answered that was not handed on and
// publishes nothing, and lets the head look. After too many hand-offs in a row it still waits.
func (q *Queue) Released() {
	if q.handOffDeadline == 0 {
		q.WakeHead()
	}
}

// WakeHead makes an attempt for the head, because a release of this client that the head
// waits for will publish no message.
func (q *Queue) WakeHead() {
	q.taken = false
	if q.waiting.size > 0 {
		q.wake(kind.All)
		q.changed = true
	}
}

// GivenBack says that this client released a grant that no caller had. Without a
// subscription the waiters would not receive the message.
func (q *Queue) GivenBack() {
	if !q.confirmed {
		q.wake(kind.All)
		q.changed = true
	}
}
