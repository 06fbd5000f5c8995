package rlock

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/pubsub"
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

	// maxSpareQueues bounds how many queues a shard keeps for the next name.
	maxSpareQueues = 8
)

// waitQueue is the queue of the waiters for one name (A3). Only the head's
// attempt is in flight. An attempt is made when a wake-up is pending: the queue
// has just formed, a message came, a subscription was confirmed, the lease that
// the server last reported has ended, or this client releases the lock. The
// wake-up belongs to the queue and not to the head, so it is not lost when the
// head gives up. The shard's mutex guards all fields.
type waitQueue struct {
	shard *shard
	n     *name
	next  *waitQueue // of the shard's spare queues

	waiterList
	unqueued       waiterList // waiters whose attempts are made outside the queue
	current        *attempt
	wakePending    bool
	expiryDeadline time.Duration // the next attempt is made by then at the latest
	notBefore      time.Duration // but not before this, even if a wake-up is pending
	timer          *time.Timer
	timerAt        time.Duration // what the timer is set to; 0: not set
	sub            *pubsub.Subscription
	confirmed      bool // the subscription was confirmed
	epoch          int  // counts subscriptions, so that calls of an old one are ignored
	answers        int  // counts answers that another owner holds the lock, and grants to this queue
	trouble        trouble

	handoff
	throttle
	unsubscribeAt time.Duration // for an empty queue; 0: not decided
}

// dropIfIdle takes the queue off its name if nobody waits in it and nothing is
// under way. The shard keeps it for another name.
func (q *waitQueue) dropIfIdle() {
	if q.size > 0 || q.unqueued.size > 0 || q.current != nil || q.sub != nil {
		return
	}
	q.reset()
	q.n.queue = nil
	if q.shard.spareCount < maxSpareQueues {
		q.next, q.shard.spareQueues = q.shard.spareQueues, q
		q.shard.spareCount++
	}
}

// push adds w at the end. A new queue makes an attempt at once, unless this
// client holds the lock: then the release makes it.
func (q *waitQueue) push(w *waiter) {
	now := q.n.c.early()
	w.answers, w.joined = q.answers, now
	if q.size == 0 && q.current == nil {
		if share := q.n.fairShare; share != nil {
			share.Arrived(now)
		}
		if q.confirmed && !q.wakePending && now < q.attemptBy() && q.n.held() {
			w.answers--
		} else {
			q.wakePending = true
		}
	}
	q.waiterList.push(w)
}

// step makes the attempt that is due for the head, or sets the timer for the
// next one. It is called after every event.
func (q *waitQueue) step() {
	if q.resubscribeAt > 0 && q.size > 0 {
		q.subscribe() // if it is time
	}
	if q.current != nil {
		q.arm()
		return
	}
	w := q.head
	if w == nil {
		q.emptied()
		return
	}
	q.unsubscribeAt = 0
	if !q.wakePending && q.n.c.now() < q.attemptBy() {
		q.arm()
		return
	}
	if q.notBefore = max(q.yieldUntil(w), q.delayUntil(w)); q.notBefore > 0 {
		q.wakePending = true
		q.subscribe()
		q.arm()
		return
	}
	q.handOffs = 0
	q.attempt(w)
}

// attemptBy is the deadline of the head's next attempt, with or without a
// wake-up.
func (q *waitQueue) attemptBy() time.Duration {
	if q.handOffDeadline > 0 {
		return min(q.expiryDeadline, q.handOffDeadline)
	}
	return q.expiryDeadline
}

// attempt makes an attempt for w, the head.
func (q *waitQueue) attempt(w *waiter) {
	q.wakePending, q.notBefore, q.handOffDeadline, q.delayedUntil = false, 0, 0, 0
	q.current = q.n.try(w)
	q.arm()
}

// emptied is called when nobody waits any more.
func (q *waitQueue) emptied() {
	if q.sub != nil && q.handedOff && !q.n.c.closed() {
		now := q.n.c.early()
		if q.unsubscribeAt == 0 {
			q.unsubscribeAt = now + unsubscribeDelay
			q.trouble.clear()
		}
		if now < q.unsubscribeAt {
			q.arm()
			return
		}
	}
	q.reset()
	q.n.dropIfIdle()
}

// arm sets the timer to the next instant at which something is due that no
// event announces.
func (q *waitQueue) arm() {
	at := clock.Never
	switch {
	case q.size == 0:
		if q.unsubscribeAt > 0 {
			at = q.unsubscribeAt
		}
	case q.current == nil && q.wakePending:
		at = q.notBefore
	case q.current == nil:
		at = q.attemptBy()
	}
	if q.resubscribeAt > 0 && q.size > 0 {
		at = min(at, q.resubscribeAt)
	}
	if q.trouble.err != nil && q.size > 0 {
		at = min(at, q.n.c.now()+q.n.c.o.timeout/4)
	}
	// A tick that comes early does no harm and sets the timer anew.
	if at == clock.Never || q.timerAt != 0 && q.timerAt <= at {
		return
	}
	q.timerAt = at
	d := max(at-q.n.c.now(), 0)
	if q.timer == nil {
		q.timer = time.AfterFunc(d, q.tick)
	} else {
		q.timer.Reset(d)
	}
}

func (q *waitQueue) tick() {
	q.shard.lock()
	n := q.n
	if n.queue != q {
		// The queue has been taken off its name meanwhile.
		q.shard.unlock()
		return
	}
	q.timerAt = 0
	q.failUnanswered()
	q.step()
	q.shard.unlock()
	n.c.node.exec.WakeWriter()
}

// lockTaken records that the server answered an attempt of the queue with ttl:
// another owner holds the lock, or one of the queue was granted it. The answer
// counts for everybody who waits now.
func (q *waitQueue) lockTaken(ttl time.Duration) {
	q.answers++
	q.trouble.clear()
	if ttl < 0 || ttl > longestWait {
		ttl = longestWait
	}
	q.expiryDeadline = q.n.c.early() + max(ttl, shortestWait)
	if q.size > 0 {
		q.subscribe()
	}
}

// subscribe subscribes the queue, if it is not subscribed yet (A2).
func (q *waitQueue) subscribe() {
	if q.sub != nil || q.unsubscribed() {
		return
	}
	q.epoch++
	q.resubscribeAt, q.quickReleases, q.lastRelease = 0, 0, 0
	q.sub = q.n.c.node.hub.Subscribe(q.n.l.channel.(string), &subscriber{shard: q.shard, kind: q.n.l.kind, queue: q, epoch: q.epoch})
}

// reset clears the queue when nobody waits in it (P1, E2).
func (q *waitQueue) reset() {
	q.unsubscribe()
	if q.timer != nil {
		q.timer.Stop()
		q.timerAt = 0
	}
	q.wakePending = false
	q.throttle = throttle{}
	q.expiryDeadline, q.notBefore, q.unsubscribeAt = 0, 0, 0
	q.handoff = handoff{}
	q.trouble.clear()
}

// unsubscribe ends the subscription.
func (q *waitQueue) unsubscribe() {
	if q.sub != nil {
		q.sub.Close()
		q.sub = nil
		q.epoch++
	}
	q.confirmed = false
}

// attemptFailed records a failure that another attempt may mend. The next
// attempt follows after a pause. Waiters that never had an answer fail when the
// trouble has lasted for a command timeout (A7).
func (q *waitQueue) attemptFailed(err error, since time.Duration) {
	q.trouble.add(err, since)
	q.expiryDeadline = q.n.c.now() + q.trouble.pause
	q.wakePending = false
	q.failUnanswered()
}

// failUnanswered fails the waiters that have waited for a first answer for a
// command timeout.
func (q *waitQueue) failUnanswered() {
	if q.trouble.err == nil {
		return
	}
	now := q.n.c.now()
	for w := q.head; w != nil; {
		next := w.next
		if !w.wasRefused() && now-max(w.joined, q.trouble.since) >= q.n.c.o.timeout {
			w.fail(w.unreachable(q.trouble.err))
		}
		w = next
	}
}

// reenter makes attempts for waiters whose owner has just acquired the name by
// another call. They would otherwise wait for themselves (A3).
func (n *name) reenter(o Owner) {
	q := n.queue
	if q == nil || q.shared == 0 {
		return
	}
	for w := q.head; w != nil; {
		next := w.next
		if w.terms.as && w.terms.owner == o && w.attempt == nil {
			q.remove(w)
			q.unqueued.push(w)
			n.try(w)
		}
		w = next
	}
}

// subscriber is one subscription of a queue, as the hub calls it. The epoch
// tells the calls of an earlier subscription apart.
type subscriber struct {
	shard *shard
	kind  *kind
	queue *waitQueue
	epoch int
}

// Confirmed wakes the queue: messages from before the confirmation are gone
// (P2).
func (sub *subscriber) Confirmed() { sub.wake(false) }

// Message wakes the queue, if the message is a release for its kind of lock.
func (sub *subscriber) Message(payload []byte) {
	if sub.kind.wakes(payload) {
		sub.wake(true)
	}
}

// wake records that an attempt is wanted, unless the message is this client's
// own (P3).
func (sub *subscriber) wake(released bool) {
	q := sub.queue
	sub.shard.lock()
	if sub.epoch != q.epoch {
		sub.shard.unlock()
		return
	}
	n := q.n
	q.confirmed = true
	if !released {
		q.ownMessages, q.wakePending = 0, true
	} else if !q.isOwnMessage() {
		q.wakePending = true
		q.observeRelease()
	}
	q.step()
	sub.shard.unlock()
	n.c.node.exec.WakeWriter()
}

// Refused fails all waiters: without a subscription nothing would wake them.
func (sub *subscriber) Refused(err error) {
	q := sub.queue
	sub.shard.lock()
	defer sub.shard.unlock()
	if sub.epoch != q.epoch {
		return
	}
	n := q.n
	err = fmt.Errorf("subscribe to %s: %w", quote(n.l.channel.(string)), err)
	for q.head != nil {
		q.head.fail(err)
	}
	q.reset()
	n.step()
}
