package waitqueue

import (
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/wakepolicy"
)

// subscribe asks for the channel if nobody has, and the policy does not stay
// away from it (A2).
func (q *Queue) subscribe(now time.Duration) {
	if q.subscribed || q.rules.Silent || q.policy.Away(now) {
		return
	}
	q.policy.Subscribed()
	q.subscribed = true
}

// unsubscribe leaves the channel.
func (q *Queue) unsubscribe() {
	q.subscribed, q.confirmed = false, false
}

// poll sees to the next try of a queue that left its channel, since no message
// would tell when: at an instant that the policy chooses, or when the channel
// is confirmed, if it is time to come back.
func (q *Queue) poll(now time.Duration, over wakepolicy.Spread) {
	switch {
	case q.policy.Away(now):
		q.wake(kind.All)
		q.notBefore = q.policy.Poll(now, over, q.random)
	case q.policy.BackAt() > 0:
		q.subscribe(now)
	}
}
