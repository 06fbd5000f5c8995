package waitqueue

import (
	"time"

	"github.com/rlock-go/redisson/internal/kind"
)

// Confirmed says that the channel is listened on, for the first time or again:
// what was published before is gone, so the head looks (P2).
func (q *Queue) Confirmed() {
	q.confirmed, q.changed = true, true
	q.ownMessages = 0
	q.wake(kind.All)
}

// Unconfirmed says that the channel is asked for again, and not listened on before the
// next Confirmed. A release may be missed meanwhile, so the head looks by an instant at the
// latest.
func (q *Queue) Unconfirmed(lookBy time.Duration) {
	q.confirmed, q.changed = false, true
	q.expiryDeadline = min(q.expiryDeadline, lookBy)
}

// Message says that a release was published that is worth n attempts, 1 at
// least. The head looks, unless the message is this client's own and says
// nothing new. Where one owner has the name at a time it is a flag, not a queue
// (P3).
func (q *Queue) Message(now time.Duration, n int) {
	q.confirmed, q.changed = true, true
	own := q.isOwnMessage(now)
	// Where nothing is handed on, a message is the only way on, and an attempt is not
	// put off for what many of them say.
	q.policy.Heard(now, own || q.rules.HandOffs == 0, q.random)
	if own {
		return
	}
	q.taken = false
	q.heard = true
	q.wake(n)
	if q.subscribed && q.waiting.size > 0 && q.policy.Crowded() {
		q.unsubscribe()
		q.ownMessages = 0
		q.policy.Left(now)
	}
}

// SubscriptionRefused ends the waits: nobody would be woken. It says so of a
// subscription that there is.
func (q *Queue) SubscriptionRefused(err error) {
	for w := range q.waiting.each {
		q.settle(w, Failed, err)
	}
	q.reset()
	q.changed = true
}
