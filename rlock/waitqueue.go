package rlock

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/pubsub"
)

const (
	// A key without a TTL, or with an absurd one, is looked at this often: a
	// bound for waits that no message ends.
	longestWait = time.Minute

	// A PTTL of 0 must not make a waiter spin.
	shortestWait = time.Millisecond

	// unsubscribeDelay is how long a queue that hands the lock on within this client
	// stays subscribed when nobody waits in it: those who have just released
	// tend to come back.
	unsubscribeDelay = 50 * time.Millisecond

	// maxSpareQueues bounds how many queues a shard keeps for the next name.
	maxSpareQueues = 8
)

// waitQueue is the queue of one name's waiters (A3). One attempt is in flight for
// all of them, the head's. It is made when something says that a look is
// worth while: the queue has just formed, a message came, a subscription was
// confirmed, the lease that was last heard of has ended, or one of this
// client releases. That something is the wake-up of the queue and not the head's, so a
// head that gives up takes nothing with it. All of it is guarded by the
// shard's mutex.
type waitQueue struct {
	shard *shard
	n     *name      // whose it is
	next  *waitQueue // among the spare ones

	waiterList
	unqueued       waiterList // waiters whose attempts are made outside the queue
	current        *attempt
	wakePending    bool
	expiryDeadline time.Duration // look by then at the latest
	notBefore      time.Duration // and not before then, although a wake-up is pending
	timer          *time.Timer
	timerAt        time.Duration // what the timer is set to; 0: not set
	sub            *pubsub.Subscription
	confirmed      bool // the subscription was confirmed
	epoch          int  // counts subscriptions, so that an old one's calls are told apart
	answers        int  // "taken", or a grant to one of the queue
	trouble        trouble

	handoff
	throttle
	unsubscribeAt time.Duration // when a queue that nobody waits in leaves its channel; 0: not decided
}

// dropIfIdle gives the queue back if nobody waits in it and nothing is under way.
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

// push queues w. A queue that forms looks at once, unless this client holds the
// lock, of whose end it hears.
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

// step does what is due: an attempt for the head, or setting the clock for
// the next. It is called after every event.
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

// attemptBy is when the head tries at the latest, wake-up pending or not.
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

// emptied follows the last waiter's going.
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

// arm sets the timer to the next instant at which something is due without
// being told.
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
		// It has been given back meanwhile.
		q.shard.unlock()
		return
	}
	q.timerAt = 0
	q.failUnanswered()
	q.step()
	q.shard.unlock()
	n.c.node.pipe.WakeWriter()
}

// lockTaken follows an answer to the queue's attempt that the name is taken for
// ttl, by others or by a grant to one of the queue: whoever waits was told so
// now.
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

// subscribe subscribes if nobody has (A2).
func (q *waitQueue) subscribe() {
	if q.sub != nil || q.unsubscribed() {
		return
	}
	q.epoch++
	q.resubscribeAt, q.quickReleases, q.lastRelease = 0, 0, 0
	q.sub = q.n.c.node.hub.Subscribe(q.n.l.channel.(string), &subscriber{shard: q.shard, kind: q.n.l.kind, queue: q, epoch: q.epoch})
}

// reset leaves nothing of a queue that nobody waits in (P1, E2).
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

// unsubscribe leaves the channel.
func (q *waitQueue) unsubscribe() {
	if q.sub != nil {
		q.sub.Close()
		q.sub = nil
		q.epoch++
	}
	q.confirmed = false
}

// attemptFailed follows an attempt that failed in a way that trying again may
// mend: it is made again after a pause, and whoever was never answered gives
// up when trouble has lasted a command timeout (A7).
func (q *waitQueue) attemptFailed(err error, since time.Duration) {
	q.trouble.add(err, since)
	q.expiryDeadline = q.n.c.now() + q.trouble.pause
	q.wakePending = false
	q.failUnanswered()
}

// failUnanswered fails the waiters whose patience with a silent server has ended.
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

// reenter lets waiters through whose owner has just come to hold the name by
// another call: they would wait for themselves (A3).
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

// subscriber is what the hub wakes: a queue, by one of its subscriptions.
type subscriber struct {
	shard *shard
	kind  *kind
	queue *waitQueue
	epoch int
}

// Confirmed makes the head look: what was published before is gone (P2).
func (sub *subscriber) Confirmed() { sub.wake(false) }

// Message makes the head look, if its kind of lock says so.
func (sub *subscriber) Message(payload []byte) {
	if sub.kind.wakes(payload) {
		sub.wake(true)
	}
}

// wake notes that an attempt is wanted (P3).
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
	n.c.node.pipe.WakeWriter()
}

// Refused ends the waits: without a subscription nobody would be woken.
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
