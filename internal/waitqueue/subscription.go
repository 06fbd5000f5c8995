package waitqueue

import (
	"time"

	"github.com/rlock-go/redisson/internal/kind"
)

// subscribe asks for the channel, unless the queue already did or the policy keeps it
// unsubscribed (A2).
func (q *Queue) subscribe(now time.Duration) {
	if q.subscribed || q.rules.Silent || q.policy.Away(now) {
		return
	}
	q.policy.resubscribeAt, q.policy.quickReleases, q.policy.lastRelease = 0, 0, 0
	q.subscribed = true
}

// poll plans the next attempt of a queue that has unsubscribed because of a crowd, since
// no message will wake it. The policy chooses the instant. If it is time to come back,
// the queue subscribes instead, and tries when the subscription is confirmed.
func (q *Queue) poll(now time.Duration, over Spread) {
	switch {
	case q.policy.Away(now):
		q.wake(kind.All)
		q.notBefore = q.policy.Poll(now, over, q.random)
	case q.policy.resubscribeAt > 0:
		q.subscribe(now)
	}
}
