package waitqueue

import (
	"time"

	"github.com/rlock-go/redisson/internal/kind"
)

// Confirmed says that the channel is subscribed to, for the first time or again. Earlier
// messages may have been missed, so the head looks (P2).
func (q *Queue) Confirmed() {
	q.confirmed, q.changed = true, true
	q.ownMessages = 0
	q.wake(kind.All)
}

// Unconfirmed says that the subscription was lost and is requested again. Until the next
// Confirmed a release may be missed, so the head looks at lookBy at the latest.
func (q *Queue) Unconfirmed(lookBy time.Duration) {
	q.confirmed, q.changed = false, true
	q.expiryDeadline = min(q.expiryDeadline, lookBy)
}

// Message says that a release was published that is worth n attempts, at least 1. The
// head looks, unless the message is this client's own and says nothing new. Where one
// owner has the name at a time, several messages make one wake-up (P3).
func (q *Queue) Message(now time.Duration, n int) {
	q.confirmed, q.changed = true, true
	own := false
	if q.ownMessages > 0 {
		q.ownMessages--
		own = now < q.ownMessagesUntil
	}
	// Without hand-offs the queue goes on by messages only, so frequent messages must not
	// delay its attempts.
	q.policy.Heard(now, own || q.rules.HandOffs == 0, q.random)
	if own {
		return
	}
	q.taken = false
	q.heard = true
	q.wake(n)
	if q.subscribed && q.waiting.size > 0 && q.policy.Crowded() {
		q.subscribed, q.confirmed, q.ownMessages = false, false, 0
		q.policy.Left(now)
	}
}

// SubscriptionRefused ends the waits with err, since no message would wake the waiters.
// The queue must have asked for the subscription.
func (q *Queue) SubscriptionRefused(err error) {
	for w := range q.waiting.each {
		q.settle(w, Failed, err)
	}
	q.reset()
	q.changed = true
}
